package grpc

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The service, in all four kinds of calls. Keys are StringValues, places are
// UInt64Values.
//
//	Put(key) place                     notes a key
//	Watch(place) stream of keys        all from that place on, and then as they come
//	Import(stream of keys) count       notes many
//	Chat(stream of keys) stream of places   answers each in turn
type service interface {
	Put(ctx context.Context, key string) (uint64, error)
	Watch(from uint64, s grpc.ServerStream) error
	Import(s grpc.ServerStream) error
	Chat(s grpc.ServerStream) error
}

const name = "dst.Journal"

var (
	watchDesc  = grpc.StreamDesc{StreamName: "Watch", ServerStreams: true, Handler: handleWatch}
	importDesc = grpc.StreamDesc{StreamName: "Import", ClientStreams: true, Handler: func(s any, stream grpc.ServerStream) error { return s.(service).Import(stream) }}
	chatDesc   = grpc.StreamDesc{StreamName: "Chat", ClientStreams: true, ServerStreams: true, Handler: func(s any, stream grpc.ServerStream) error { return s.(service).Chat(stream) }}
)

// serviceDesc is what protoc would make.
var serviceDesc = grpc.ServiceDesc{
	ServiceName: name,
	HandlerType: (*service)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Put", Handler: handlePut}},
	Streams:     []grpc.StreamDesc{watchDesc, importDesc, chatDesc},
}

func handlePut(s any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	key := new(wrapperspb.StringValue)
	if err := decode(key); err != nil {
		return nil, err
	}
	at, err := s.(service).Put(ctx, key.Value)
	return wrapperspb.UInt64(at), err
}

func handleWatch(s any, stream grpc.ServerStream) error {
	from := new(wrapperspb.UInt64Value)
	if err := stream.RecvMsg(from); err != nil {
		return err
	}
	return s.(service).Watch(from.Value, stream)
}

// How pings go: an end that hears nothing for pingTime asks, and gives up when there is
// no answer within pingTimeout.
const (
	pingTime    = 10 * time.Second
	pingTimeout = 3 * time.Second
)

// serve runs a service with its health until life ends. Then it ends all watches,
// lets the other calls finish, and after a grace of five seconds ends them too.
func serve(addr string, s service, f flaw, life context.Context, begun chan<- net.Addr) error {
	lis, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv := grpc.NewServer(
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingTime, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingTime / 2, PermitWithoutStream: true}),
	)
	srv.RegisterService(&serviceDesc, s)
	healthy := health.NewServer()
	healthpb.RegisterHealthServer(srv, healthy)
	healthy.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	go func() {
		<-life.Done()
		if f == hardStop {
			srv.Stop()
			return
		}
		healthy.Shutdown()
		grace := time.AfterFunc(5*time.Second, srv.Stop)
		defer grace.Stop()
		srv.GracefulStop()
	}()
	if begun != nil {
		begun <- lis.Addr()
	}
	return srv.Serve(lis)
}

// A ledger serves a journal of its own.
type ledger struct {
	*journal
	life context.Context // ends when the journal is told to stop
}

var _ service = ledger{}

func (l ledger) Put(ctx context.Context, key string) (uint64, error) {
	at, err := l.put(ctx, key)
	if ctx.Err() != nil {
		return 0, status.FromContextError(ctx.Err()).Err()
	} else if err != nil {
		return 0, status.Error(codes.Unavailable, err.Error())
	}
	return at, nil
}

func (l ledger) Watch(from uint64, s grpc.ServerStream) error {
	for {
		keys, more := l.after(from)
		for _, key := range keys {
			if err := s.SendMsg(wrapperspb.String(key)); err != nil {
				return err
			}
		}
		from += uint64(len(keys))
		if len(keys) > 0 {
			continue
		}
		select {
		case <-more:
		case <-l.life.Done():
			return status.Error(codes.Unavailable, "the journal stops")
		case <-s.Context().Done():
			return status.FromContextError(s.Context().Err()).Err()
		}
	}
}

func (l ledger) Import(s grpc.ServerStream) error {
	var count uint64
	for key := new(wrapperspb.StringValue); ; count++ {
		if err := s.RecvMsg(key); err == io.EOF {
			return s.SendMsg(wrapperspb.UInt64(count))
		} else if err != nil {
			return err
		}
		if _, err := l.Put(s.Context(), key.Value); err != nil {
			return err
		}
	}
}

func (l ledger) Chat(s grpc.ServerStream) error {
	if l.flaw == chatUnordered {
		return l.chatUnordered(s)
	}
	for key := new(wrapperspb.StringValue); ; {
		if err := s.RecvMsg(key); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		at, err := l.Put(s.Context(), key.Value)
		if err != nil {
			return err
		}
		if err := s.SendMsg(wrapperspb.UInt64(at)); err != nil {
			return err
		}
	}
}

func (l ledger) chatUnordered(s grpc.ServerStream) error {
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		any error
	)
	for key := new(wrapperspb.StringValue); s.RecvMsg(key) == nil; key = new(wrapperspb.StringValue) {
		wg.Go(func() {
			at, err := l.Put(s.Context(), key.Value)
			mu.Lock()
			defer mu.Unlock()
			if any == nil {
				any = err
			}
			if any == nil {
				any = s.SendMsg(wrapperspb.UInt64(at))
			}
		})
	}
	wg.Wait()
	return any
}

// A front passes all calls on. Deadlines and cancellations pass with the context.
type front struct {
	*client
	life context.Context // ends when the front end is told to stop
}

var _ service = front{}

func (f front) Put(ctx context.Context, key string) (uint64, error) { return f.put(ctx, key) }

func (f front) Watch(from uint64, s grpc.ServerStream) error {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	// A front end that stops says so to who watches, who goes to another one.
	stopped := context.AfterFunc(f.life, cancel)
	err := f.watch(ctx, from, func(key string) error { return s.SendMsg(wrapperspb.String(key)) })
	if !stopped() {
		return status.Error(codes.Unavailable, "the front end stops")
	}
	return err
}

func (f front) Import(s grpc.ServerStream) error {
	up, err := f.conn.NewStream(s.Context(), &importDesc, "/"+name+"/Import")
	if err != nil {
		return err
	}
	for {
		key := new(wrapperspb.StringValue)
		if err := s.RecvMsg(key); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if up.SendMsg(key) != nil {
			break // RecvMsg has the error
		}
	}
	if err := up.CloseSend(); err != nil {
		return err
	}
	count := new(wrapperspb.UInt64Value)
	if err := up.RecvMsg(count); err != nil {
		return err
	}
	return s.SendMsg(count)
}

func (f front) Chat(s grpc.ServerStream) error {
	up, err := f.conn.NewStream(s.Context(), &chatDesc, "/"+name+"/Chat")
	if err != nil {
		return err
	}
	go func() {
		for {
			key := new(wrapperspb.StringValue)
			if s.RecvMsg(key) != nil || up.SendMsg(key) != nil {
				up.CloseSend()
				return
			}
		}
	}()
	for {
		at := new(wrapperspb.UInt64Value)
		if err := up.RecvMsg(at); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.SendMsg(at); err != nil {
			return err
		}
	}
}

// A client of the service.
type client struct{ conn *grpc.ClientConn }

// How clients connect again: after at most backoffMost, each attempt for connectMost.
const (
	backoffMost = 3 * time.Second
	connectMost = 2 * time.Second
)

// spread asks for calls to go to all addresses of a name in turn, except those whose
// health says no.
const spread = `{"loadBalancingConfig": [{"round_robin":{}}], "healthCheckConfig": {"serviceName": "dst.Journal"}}`

func dial(target string, f flaw) (*client, error) {
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(spread),
		grpc.WithDisableServiceConfig(), // no TXT records
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: backoffMost},
			MinConnectTimeout: connectMost,
		}),
	}
	if f != noKeepAlive {
		opts = append(opts, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingTime, Timeout: pingTimeout, PermitWithoutStream: true}))
	}
	conn, err := grpc.NewClient(target, opts...)
	if err != nil {
		return nil, err
	}
	return &client{conn}, nil
}

func (c *client) put(ctx context.Context, key string) (uint64, error) {
	at := new(wrapperspb.UInt64Value)
	err := c.conn.Invoke(ctx, "/"+name+"/Put", wrapperspb.String(key), at)
	return at.Value, err
}

// watch calls see for each key from the given place on, until that or the stream fails.
func (c *client) watch(ctx context.Context, from uint64, see func(key string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.conn.NewStream(ctx, &watchDesc, "/"+name+"/Watch", grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	if err := s.SendMsg(wrapperspb.UInt64(from)); err != nil && err != io.EOF {
		return err
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for {
		key := new(wrapperspb.StringValue)
		if err := s.RecvMsg(key); err != nil {
			return err
		}
		if err := see(key.Value); err != nil {
			return err
		}
	}
}

// importKeys notes keys, and returns how many the other end counted.
func (c *client) importKeys(ctx context.Context, keys []string) (uint64, error) {
	s, err := c.conn.NewStream(ctx, &importDesc, "/"+name+"/Import")
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		if s.SendMsg(wrapperspb.String(key)) != nil {
			break // RecvMsg has the error
		}
	}
	if err := s.CloseSend(); err != nil {
		return 0, err
	}
	count := new(wrapperspb.UInt64Value)
	err = s.RecvMsg(count)
	return count.Value, err
}

// chat sends keys without waiting, and returns the answers that came.
func (c *client) chat(ctx context.Context, keys []string) (places []uint64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.conn.NewStream(ctx, &chatDesc, "/"+name+"/Chat")
	if err != nil {
		return nil, err
	}
	go func() {
		for _, key := range keys {
			if s.SendMsg(wrapperspb.String(key)) != nil {
				return
			}
		}
		s.CloseSend()
	}()
	for {
		at := new(wrapperspb.UInt64Value)
		if err := s.RecvMsg(at); err == io.EOF {
			return places, nil
		} else if err != nil {
			return places, err
		}
		places = append(places, at.Value)
	}
}
