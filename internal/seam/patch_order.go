package seam

// orderPatches give an order to the maps of std whose keys are pointers and in
// whose order the program goes on: that of the map follows from addresses, which
// depend on the machine.
func orderPatches() []Patch {
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
		{File: "net/http/httptest/server.go", Edits: []Edit{
			{In: "func (s *Server) Close()", Find: "\t\tfor c, st := range s.conns {\n", Replace: "\t\tfor _, c := range dstConns(s.conns) {\n\t\t\tst := s.conns[c]\n"},
			{In: "func (s *Server) CloseClientConnections()", Find: "for c := range s.conns {", Replace: "for _, c := range dstConns(s.conns) {"},
		}},
	}
}
