package dropin

const (
	hostFiles = "On a simulated host it works on that host's disk."
	hostEnv   = "A simulated host's process has an environment of its own. Elsewhere it is the real process's."
	hostIDs   = "On a simulated host it tells of that host's process, which runs as root. Elsewhere it is the real process's."
)

func pathFunc(op, name string) Func {
	return Func{note: hostFiles, err: `outside("` + op + `", ` + name + `)`}
}

func pairFunc(op string) Func {
	return Func{note: hostFiles, err: `outsideLink("` + op + `", oldname, newname)`}
}

var osPackage = &Package{
	Std: "os", Name: "os", Path: Module + "/simfs", Dir: "simfs",
	note:   "It is the same everywhere.",
	copied: "Programs do not assign to these.",
	funcs: map[string]Func{
		"Chdir":      {note: "On a simulated host it is the working directory of that host's process.", err: `outside("chdir", dir)`},
		"Chmod":      pathFunc("chmod", "name"),
		"Chown":      pathFunc("chown", "name"),
		"Chtimes":    pathFunc("chtimes", "name"),
		"CopyFS":     pathFunc("copy", "dir"),
		"Create":     pathFunc("open", "name"),
		"CreateTemp": pathFunc("createtemp", "pattern"),
		"DirFS":      {note: "On a simulated host it reads that host's disk. Its methods are std's: elsewhere they are not refused."},
		"Lchown":     pathFunc("lchown", "name"),
		"Link":       pairFunc("link"),
		"Lstat":      pathFunc("lstat", "name"),
		"Mkdir":      pathFunc("mkdir", "name"),
		"MkdirAll":   pathFunc("mkdir", "path"),
		"MkdirTemp":  pathFunc("mkdirtemp", "pattern"),
		"Open":       pathFunc("open", "name"),
		"OpenFile":   pathFunc("open", "name"),
		"OpenInRoot": pathFunc("openat", "name"),
		"OpenRoot":   pathFunc("open", "name"),
		"ReadDir":    pathFunc("open", "name"),
		"ReadFile":   pathFunc("open", "name"),
		"Readlink":   pathFunc("readlink", "name"),
		"Remove":     pathFunc("remove", "name"),
		"RemoveAll":  pathFunc("RemoveAll", "path"),
		"Rename":     {note: hostFiles, err: `outsideLink("rename", oldpath, newpath)`},
		"Stat":       pathFunc("stat", "name"),
		"Symlink":    pairFunc("symlink"),
		"Truncate":   pathFunc("truncate", "name"),
		"WriteFile":  pathFunc("open", "name"),

		"Pipe":         {note: "On a simulated host the pipe is that host's.", err: `outsideCall("pipe2")`},
		"NewFile":      {note: "On a simulated host the descriptor is one of that host's. It is not refused elsewhere."},
		"Executable":   {note: "On a simulated host it is /proc/self/exe of that host.", err: `outsideCall("executable")`},
		"FindProcess":  {note: "A simulated host knows its own process alone.", err: `outsideCall("pidfd_open")`},
		"StartProcess": {note: "A simulated host runs no other programs: it gets an error.", err: `outside("fork/exec", name)`},
		"Getgroups":    {note: "On a simulated host it tells of that host's process.", err: `outsideCall("getgroups")`},
		"Getwd":        {note: "On a simulated host it is the working directory of that host's process.", err: `outsideCall("getwd")`},
		"Hostname":     {note: "On a simulated host it is that host's name.", err: `outsideCall("hostname")`},
		"Exit":         {note: "On a simulated host it ends that host's process, and the test goes on. Elsewhere it ends the real one."},

		"Clearenv": {note: hostEnv}, "Environ": {note: hostEnv}, "ExpandEnv": {note: hostEnv}, "Getenv": {note: hostEnv},
		"LookupEnv": {note: hostEnv}, "Setenv": {note: hostEnv}, "Unsetenv": {note: hostEnv}, "TempDir": {note: hostEnv},
		"UserCacheDir": {note: hostEnv}, "UserConfigDir": {note: hostEnv}, "UserHomeDir": {note: hostEnv},
		"Getegid": {note: hostIDs}, "Geteuid": {note: hostIDs}, "Getgid": {note: hostIDs}, "Getpid": {note: hostIDs},
		"Getppid": {note: hostIDs}, "Getuid": {note: hostIDs},
	},
	types: map[string]string{
		"File":    "Its methods are std's: a file that a simulated host opened is on that host's disk.",
		"Root":    "Its methods are std's: one that a simulated host opened is on that host's disk.",
		"Process": "Its methods are std's.",
	},
	Assigned: map[string]string{
		"Args":   "All hosts share it.",
		"Stdin":  "On a simulated host it is at its end.",
		"Stdout": "What a simulated host writes to it is kept for that host.",
		"Stderr": "What a simulated host writes to it is kept for that host.",
	},
}

var ioutilPackage = &Package{
	Std: "io/ioutil", Name: "ioutil", Path: Module + "/simfs/ioutil", Dir: "simfs/ioutil",
	imports: []string{"io/fs"},
	note:    "It is the same everywhere.",
	copied:  "Programs do not assign to these.",
	funcs: map[string]Func{
		"ReadDir":   {note: hostFiles, err: ioutilError("open", "dirname")},
		"ReadFile":  {note: hostFiles, err: ioutilError("open", "filename")},
		"TempDir":   {note: hostFiles, err: ioutilError("mkdirtemp", "pattern")},
		"TempFile":  {note: hostFiles, err: ioutilError("createtemp", "pattern")},
		"WriteFile": {note: hostFiles, err: ioutilError("open", "filename")},
	},
}

func ioutilError(op, name string) string {
	return `&fs.PathError{Op: "` + op + `", Path: ` + name + `, Err: sched.ErrNotOnHost}`
}

var filepathPackage = &Package{
	Std: "path/filepath", Name: "filepath", Path: Module + "/simfs/filepath", Dir: "simfs/filepath",
	imports: []string{"io/fs"},
	note:    "It is the same everywhere.",
	copied:  "Programs do not assign to these.",
	funcs: map[string]Func{
		"Abs": {note: "On a simulated host a relative path begins at the working directory of that host's process.",
			err: ioutilError("getwd", "path"), when: "!filepath.IsAbs(path)"},
		"EvalSymlinks": {note: hostFiles, err: ioutilError("lstat", "path")},
		"Glob":         {note: hostFiles, err: ioutilError("glob", "pattern")},
		"Walk":         {note: hostFiles, err: ioutilError("lstat", "root")},
		"WalkDir":      {note: hostFiles, err: ioutilError("lstat", "root")},
	},
}
