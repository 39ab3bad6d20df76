package conformance

// packages are those whose tests are run. The quick ones are part of everyday
// tests.
var packages = []struct {
	path  string
	quick bool
}{
	{"net/textproto", true},
	{"net/rpc", true},
	{"net/http/httptest", true},
	{"net/http/httputil", true},
	{"net", false},
	{"net/http", false},
	{"crypto/tls", false},
	{"os", false},
	{"os/signal", false},
	{"path/filepath", false},
	{"io/fs", false},
	{"io/ioutil", false},
	{"time", false},
	{"context", false},
	{"sync", false},
	{"math/rand", false},
	{"math/rand/v2", false},
}

// Packages returns the paths of the packages whose tests are run.
func Packages() []string {
	var paths []string
	for _, p := range packages {
		paths = append(paths, p.path)
	}
	return paths
}

// Quick returns those of them that everyday tests run.
func Quick() []string {
	var paths []string
	for _, p := range packages {
		if p.quick {
			paths = append(paths, p.path)
		}
	}
	return paths
}
