package seam

// orderPatches give an order to the maps of std whose keys are pointers and in
// whose order the program goes on: that of the map follows from addresses, which
// depend on the machine.
func orderPatches(release string) []Patch {
	h2File, h2Conn, h2Server := "net/http/internal/http2/server.go", "serverConn", "Server"
	if release == "1.26" {
		h2File, h2Conn, h2Server = "net/http/h2_bundle.go", "http2serverConn", "http2serverInternalState"
	}
	return []Patch{
		{File: "context/context.go", Edits: []Edit{
			{In: "type cancelCtx struct {", Find: "\tmu       sync.Mutex", Replace: "\tdstNumber uint64 // among all; set with the parent\n\n$0"},
			{In: "func (c *cancelCtx) propagateCancel(", Find: "\t\t\tp.children[child] = struct{}{}\n", Replace: "\t\t\tc.dstNumber = dstNumbers.Add(1)\n$0"},
			{In: "func (c *cancelCtx) cancel(", Find: "for child := range c.children {", Replace: "for _, child := range dstChildren(c.children) {"},
		}},
		{File: "net/http/server.go", Edits: []Edit{
			{In: "type conn struct {", Find: "type conn struct {\n", Replace: "$0\tdstNumber uint64 // among all\n\n"},
			{In: "func (s *Server) newConn(", Find: "\t\trwc:    rwc,\n", Replace: "$0\t\tdstNumber: dstNumbers.Add(1),\n"},
			{In: "func (s *Server) Close()", Find: "for c := range s.activeConn {", Replace: "for _, c := range dstConns(s.activeConn) {"},
			{In: "func (s *Server) closeIdleConns()", Find: "for c := range s.activeConn {", Replace: "for _, c := range dstConns(s.activeConn) {"},
		}},
		{File: h2File, Edits: []Edit{
			{Find: "\nimport (\n", Replace: "$0\tdst \"internal/synctest\"\n"},
			{In: "type " + h2Conn + " struct {", Find: "\tconn             net.Conn\n", Replace: "$0\tdstNumber uint64 // among those of the server\n"},
			{In: "type " + h2Server + " struct {", Find: "\tactiveConns map[*" + h2Conn + "]struct{}\n", Replace: "$0\tdstNumbers uint64 // of connections registered\n"},
			{In: "func (s *" + h2Server + ") registerConn(", Find: "\ts.activeConns[sc] = struct{}{}\n", Replace: "\ts.dstNumbers++\n\tsc.dstNumber = s.dstNumbers\n$0"},
			{In: "func (s *" + h2Server + ") startGracefulShutdown(", Find: "for sc := range s.activeConns {",
				Replace: "for _, sc := range dst.InOrder(s.activeConns, func(sc *" + h2Conn + ") uint64 { return sc.dstNumber }) {"},
		}},
		{File: "net/http/httptest/server.go", Edits: []Edit{
			{In: "func (s *Server) Close()", Find: "\t\tfor c, st := range s.conns {\n", Replace: "\t\tfor _, c := range dstConns(s.conns) {\n\t\t\tst := s.conns[c]\n"},
			{In: "func (s *Server) CloseClientConnections()", Find: "for c := range s.conns {", Replace: "for _, c := range dstConns(s.conns) {"},
		}},
	}
}
