package outage

import "os"

// Fsync makes a file or folder durable, as fsync(2) does.
func Fsync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
