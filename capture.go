package dst

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeCapture writes the packets of a seed to a file in dir.
func (r *runner) writeCapture(dir string, w *World) {
	path := filepath.Join(dir, fileName(fmt.Sprintf("%s %s_seed=%d.pcapng", packagePath(), r.t.Name(), w.seed)))
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = writeFile(path, func(f *os.File) error {
			_, err := f.Write(w.packets.Bytes())
			return err
		})
	}
	if err != nil {
		w.fail(fmt.Sprintf("the packets cannot be written: %v", err), "")
		return
	}
	w.captured = path
}
