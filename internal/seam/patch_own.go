package seam

// ownPatches give each process of a world what std keeps in package variables:
// see files/internal/synctest. A variable is replaced by the process's own where it is
// used. The methods of a type whose values stand in package variables, std's or
// the program's, begin with the process's own value.
func ownPatches(release string) []Patch {
	const (
		field = "$0\tdst dstOwner\n"
		made  = "$0\t\tdst: dstHere(),\n"
	)
	h2 := "http2noDialH2RoundTripper"
	if release != "1.26" {
		h2 = "http2RoundTripper"
	}
	return []Patch{
		{File: "net/http/transport.go", Edits: []Edit{
			{In: "type Transport struct {", Find: "\tnextProtoOnce      sync.Once\n", Replace: field},
			{In: "func (t *Transport) Clone()", Find: "func (t *Transport) Clone() *Transport {\n",
				Replace: "func dstIsHTTP2(rt RoundTripper) bool {\n\t_, ok := rt.(" + h2 + ")\n\treturn ok\n}\n\n$0"},
			own("t", "func (t *Transport) roundTrip(", "\tt.nextProtoOnce.Do("),
			own("t", "func (t *Transport) CloseIdleConnections(", "\tt.nextProtoOnce.Do("),
			own("t", "func (t *Transport) CancelRequest(", "\tt.reqMu.Lock()\n"),
			// HTTP/2 registers itself, with t.
			{In: "func (t *Transport) RegisterProtocol(", Find: "func (t *Transport) RegisterProtocol(scheme string, rt RoundTripper) {\n",
				Replace: "$0\tif !dstIsHTTP2(rt) {\n\t\tt = t.dstOf()\n\t}\n"},
			{In: "func envProxyFunc()", Find: "\tenvProxyOnce.Do(", Replace: "\tif f := dstProxyFunc(); f != nil {\n\t\treturn f\n\t}\n$0"},
		}},
		{File: "net/http/clientconn.go", Edits: []Edit{
			own("t", "func (t *Transport) NewClientConn(", "\tt.nextProtoOnce.Do("),
		}},
		{File: "net/http/server.go", Edits: []Edit{
			{In: "type ServeMux struct {", Find: "\tmu     sync.RWMutex\n", Replace: field},
			{In: "func NewServeMux()", Find: "&ServeMux{}", Replace: "&ServeMux{dst: dstHere()}"},
			own("mux", "func (mux *ServeMux) ServeHTTP(", "\tif r.RequestURI == "),
			own("mux", "func (mux *ServeMux) Handler(", "\tif use121 {\n"),
			own("mux", "func (mux *ServeMux) Handle(", "\tif use121 {\n"),
			own("mux", "func (mux *ServeMux) HandleFunc(", "\tif use121 {\n"),
			{In: "func Handle(", Find: "DefaultServeMux.", Replace: "DefaultServeMux.dstOf().", Count: 2},
			{In: "func HandleFunc(", Find: "DefaultServeMux.", Replace: "DefaultServeMux.dstOf().", Count: 2},
			{In: "type Server struct {", Find: "\tlistenerGroup sync.WaitGroup\n", Replace: field},
			own("s", "func (s *Server) Close(", "\ts.inShutdown.Store(true)\n"),
			own("s", "func (s *Server) Shutdown(", "\ts.inShutdown.Store(true)\n"),
			own("s", "func (s *Server) RegisterOnShutdown(", "\ts.mu.Lock()\n"),
			own("s", "func (s *Server) SetKeepAlivesEnabled(", "\tif v {\n"),
			own("s", "func (s *Server) ListenAndServe(", "\tif s.shuttingDown() {\n"),
			own("s", "func (s *Server) ListenAndServeTLS(", "\tif s.shuttingDown() {\n"),
			own("s", "func (s *Server) Serve(", "\tif fn := testHookServerServe;"),
			own("s", "func (s *Server) ServeTLS(", "func (s *Server) ServeTLS(l net.Listener, certFile, keyFile string) error {\n"),
		}},
		{File: "net/http/cookiejar/jar.go", Edits: []Edit{
			{In: "type Jar struct {", Find: "\tmu sync.Mutex\n", Replace: field},
			{In: "func New(", Find: "\tjar := &Jar{\n", Replace: made},
			own("j", "func (j *Jar) cookies(", "\tj.mu.Lock()\n"),
			own("j", "func (j *Jar) setCookies(", "\tj.mu.Lock()\n"),
		}},
		{File: "net/rpc/server.go", Edits: []Edit{
			{In: "type Server struct {", Find: "\tfreeReq    *Request\n", Replace: field},
			{In: "func NewServer()", Find: "&Server{}", Replace: "&Server{dst: dstHere()}"},
			own("server", "func (server *Server) register(", "\ts := new(service)\n"),
			own("server", "func (server *Server) ServeCodec(", "\tsending := new(sync.Mutex)\n"),
			own("server", "func (server *Server) ServeRequest(", "\tsending := new(sync.Mutex)\n"),
			own("server", "func (server *Server) HandleHTTP(", "\thttp.Handle(rpcPath, server)\n"),
		}},
		// One lookup answers all who ask for the same name meanwhile.
		{File: "net/lookup.go", Edits: []Edit{
			{In: "type Resolver struct {", Find: "\tlookupGroup singleflight.Group\n", Replace: field},
			{In: "func (r *Resolver) getLookupGroup()", Find: "&DefaultResolver.lookupGroup", Replace: "DefaultResolver.dstGroup()"},
			{In: "func (r *Resolver) getLookupGroup()", Find: "&r.lookupGroup", Replace: "r.dstGroup()"},
			{In: "func lookupPortMapWithNetwork(", Find: "\tif m, ok := services[network]; ok {\n", Replace: "\tservices := dstServices()\n$0"},
		}},
		{File: "net/port_unix.go", Edits: []Edit{
			{In: "func readServices(", Find: "\tfile, err := open(", Replace: "\tservices := dstServices()\n$0"},
			{In: "func goLookupPort(", Find: "\tonceReadServices.Do(", Replace: "\tonceReadServices := dstOwn(&onceReadServices)\n$0"},
		}},
		{File: "net/interface.go", Edits: []Edit{
			{In: "func (zc *ipv6ZoneCache) update(", Find: "\tzc.Lock()\n", Replace: "\tzc = dstOwn(&zoneCache)\n$0"},
			{In: "func (zc *ipv6ZoneCache) name(", Find: "\tupdated := ", Replace: "\tzoneCache := dstOwn(&zoneCache)\n$0"},
			{In: "func (zc *ipv6ZoneCache) index(", Find: "\tupdated := ", Replace: "\tzoneCache := dstOwn(&zoneCache)\n$0"},
		}},
		{File: "mime/type.go", Edits: []Edit{
			{In: "func setMimeTypes(", Find: "\tmimeTypes.Clear()\n",
				Replace: variables("mimeTypes", "mimeTypesLower", "extensions", "extensionsMu") + "$0"},
			{In: "func setExtensionType(", Find: "\tjustType, param, err := ",
				Replace: variables("mimeTypes", "mimeTypesLower", "extensions", "extensionsMu") + "$0"},
			{In: "func TypeByExtension(", Find: "\tonce.Do(", Replace: variables("once", "mimeTypes", "mimeTypesLower") + "$0"},
			{In: "func ExtensionsByType(", Find: "\tonce.Do(", Replace: variables("once", "extensions") + "$0"},
			{In: "func AddExtensionType(", Find: "\tonce.Do(", Replace: variables("once") + "\tdstAdd(ext, typ)\n$0"},
			{In: "func initMime()", Find: "\t\tosInitMime()\n", Replace: "$0\t\tdstInit()\n"},
		}},
		{File: "mime/type_unix.go", Edits: []Edit{
			{In: "func loadMimeGlobsFile(", Find: "\tf, err := os.Open(filename)\n", Replace: variables("mimeTypes") + "$0"},
		}},
		{File: "log/log.go", Edits: []Edit{
			{In: "type Logger struct {", Find: "\tisDiscard atomic.Bool\n", Replace: field},
			{In: "func New(", Find: "\tl := new(Logger)\n", Replace: "$0\tl.dst = dstHere()\n"},
			own("l", "func (l *Logger) SetOutput(", "\tl.outMu.Lock()\n"),
			own("l", "func (l *Logger) output(", "\tif l.isDiscard.Load() {\n"),
			own("l", "func (l *Logger) Flags(", "\treturn "),
			own("l", "func (l *Logger) SetFlags(", "\tl.flag.Store("),
			own("l", "func (l *Logger) Prefix(", "\tif p := "),
			own("l", "func (l *Logger) SetPrefix(", "\tl.prefix.Store("),
			own("l", "func (l *Logger) Writer(", "\tl.outMu.Lock()\n"),
		}},
		{File: "log/slog/logger.go", Edits: []Edit{
			{In: "func SetLogLoggerLevel(", Find: "logLoggerLevel.", Replace: "dstLevel().", Count: 2},
			{In: "func Default()", Find: "defaultLogger.Load()", Replace: "dstLogger().Load()"},
			{In: "func SetDefault(", Find: "defaultLogger.Store(", Replace: "dstLogger().Store("},
			{In: "func SetDefault(", Find: "&logLoggerLevel", Replace: "dstLevel()"},
		}},
		{File: "log/slog/handler.go", Edits: []Edit{
			{Find: "logLoggerLevel.Level()", Replace: "dstLevel().Level()"},
		}},
		{File: "expvar/expvar.go", Edits: []Edit{
			{In: "func Publish(", Find: "\tif _, dup := ", Replace: "\tvars := dstVars()\n$0"},
			{In: "func Get(", Find: "vars.", Replace: "dstVars()."},
			{In: "func Do(", Find: "vars.", Replace: "dstVars()."},
			{In: "func expvarHandler(", Find: "vars.", Replace: "dstVars()."},
		}},
		{File: "database/sql/sql.go", Edits: []Edit{
			{In: "func Register(", Find: "\tdriversMu.Lock()\n", Replace: "\tdrivers := dstDrivers()\n$0"},
			{In: "func Drivers(", Find: "\tdriversMu.RLock()\n", Replace: "\tdrivers := dstDrivers()\n$0"},
			{In: "func Open(", Find: "\tdriversMu.RLock()\n", Replace: "\tdrivers := dstDrivers()\n$0"},
		}},
		{File: "archive/zip/register.go", Edits: []Edit{
			{In: "func RegisterDecompressor(", Find: "decompressors.", Replace: "dstOwn(&decompressors)."},
			{In: "func RegisterCompressor(", Find: "compressors.", Replace: "dstOwn(&compressors)."},
			{In: "func compressor(", Find: "compressors.", Replace: "dstOwn(&compressors)."},
			{In: "func decompressor(", Find: "decompressors.", Replace: "dstOwn(&decompressors)."},
		}},
		{File: "archive/tar/stat_unix.go", Edits: []Edit{
			{In: "func statUnix(", Find: "\tsys, ok := ", Replace: variables("userMap", "groupMap") + "$0"},
		}},
		{File: "os/user/lookup.go", Edits: []Edit{
			{In: "func Current()", Find: "\tcache.Do(", Replace: variables("cache") + "$0"},
		}},
		{File: "math/rand/rand.go", Edits: []Edit{
			{In: "func globalRand()", Find: "\tif r := ", Replace: variables("globalRandGenerator") + "$0"},
			{In: "func Seed(", Find: "\torig := ", Replace: variables("globalRandGenerator") + "$0"},
		}},
		{File: "crypto/tls/common.go", Edits: []Edit{
			{In: "type Config struct {", Find: "\tautoSessionTicketKeys []ticketKey\n", Replace: field},
			{In: "func (c *Config) ticketKeys(", Find: "\t// If the ConfigForClient callback returned a Config with explicitly set\n",
				Replace: "\tc, configForClient = c.dstOf(), configForClient.dstOf()\n$0"},
			{In: "func (c *Config) writeKeyLog(", Find: "\twriterMutex.Lock()\n", Replace: "\twriterMutex := dstWriterMutex()\n$0"},
			{In: "type lruSessionCache struct {", Find: "\tcapacity int\n", Replace: field},
			{In: "func NewLRUClientSessionCache(", Find: "\treturn &lruSessionCache{\n", Replace: made},
			own("c", "func (c *lruSessionCache) Put(", "\tc.Lock()\n"),
			own("c", "func (c *lruSessionCache) Get(", "\tc.Lock()\n"),
		}},
		{File: "crypto/x509/root.go", Edits: []Edit{
			{In: "func systemRootsPool()", Find: "\tonce.Do(", Replace: "\tif roots, _, ok := dstSystemRoots(); ok {\n\t\treturn roots\n\t}\n$0"},
			{In: "func SetFallbackRoots(", Find: "\tsystemRootsMu.Lock()\n", Replace: "\tif dstSetFallback(roots) {\n\t\treturn\n\t}\n$0"},
		}},
		{File: "crypto/x509/verify.go", Edits: []Edit{
			{Find: "SystemRootsError{systemRootsErr}", Replace: "SystemRootsError{dstSystemRootsErr()}"},
		}},
		{File: "time/zoneinfo.go", Edits: []Edit{
			{In: "func LoadLocation(", Find: "\tzoneinfoOnce.Do(func() {\n\t\tenv, _ := syscall.Getenv(\"ZONEINFO\")\n\t\tzoneinfo = &env\n\t})\n",
				Replace: "\tif dstOutside() {\n$0\t}\n\tzoneinfo := dstZoneinfo(zoneinfo)\n"},
		}},
	}
}

// own begins what follows the anchor with the calling process's own receiver.
func own(receiver, in, anchor string) Edit {
	set := "\t" + receiver + " = " + receiver + ".dstOf()\n"
	if len(anchor) > 4 && anchor[:4] == "func" {
		return Edit{In: in, Find: anchor, Replace: "$0" + set}
	}
	return Edit{In: in, Find: anchor, Replace: set + "$0"}
}

// variables puts the calling process's own in place of package variables that
// begin as their zero value.
func variables(names ...string) (text string) {
	for _, name := range names {
		text += "\t" + name + " := dstOwn(&" + name + ")\n"
	}
	return text
}
