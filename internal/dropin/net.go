package dropin

const (
	simulatedNet   = "On a simulated host it uses the simulated network."
	simulatedNames = "On a simulated host it asks the host's /etc/hosts and the simulated name server."
)

var netPackage = &Package{
	Std: "net", Name: "net", Path: Module + "/simnet", Dir: "simnet",
	note:   "It is the same everywhere.",
	copied: "Programs do not assign to these.",
	funcs: map[string]Func{
		"Dial":        {note: simulatedNet, err: `outside("dial", network, written(network, address))`},
		"DialTimeout": {note: simulatedNet + " The time is the host's.", err: `outside("dial", network, written(network, address))`},
		"DialIP":      {note: "A simulated host has no raw sockets: it gets an error.", err: `outside("dial", network, known(raddr))`},
		"DialTCP":     {note: simulatedNet, err: `outside("dial", network, known(raddr))`},
		"DialUDP":     {note: simulatedNet, err: `outside("dial", network, known(raddr))`},
		"DialUnix":    {note: "On a simulated host it reaches sockets of that host.", err: `outside("dial", network, known(raddr))`},

		"Listen":             {note: simulatedNet, err: `outside("listen", network, written(network, address))`},
		"ListenPacket":       {note: simulatedNet, err: `outside("listen", network, written(network, address))`},
		"ListenIP":           {note: "A simulated host has no raw sockets: it gets an error.", err: `outside("listen", network, known(laddr))`},
		"ListenMulticastUDP": {note: simulatedNet, err: `outside("listen", network, known(gaddr))`},
		"ListenTCP":          {note: simulatedNet, err: `outside("listen", network, known(laddr))`},
		"ListenUDP":          {note: simulatedNet, err: `outside("listen", network, known(laddr))`},
		"ListenUnix":         {note: "On a simulated host the socket is that host's.", err: `outside("listen", network, known(laddr))`},
		"ListenUnixgram":     {note: "On a simulated host the socket is that host's.", err: `outside("listen", network, known(laddr))`},

		"FileConn":       {note: "On a simulated host the descriptor is one of that host's.", err: `outside("file", "file+net", nil)`},
		"FileListener":   {note: "On a simulated host the descriptor is one of that host's.", err: `outside("file", "file+net", nil)`},
		"FilePacketConn": {note: "On a simulated host the descriptor is one of that host's.", err: `outside("file", "file+net", nil)`},

		"Interfaces":       {note: "A simulated host has lo and eth0.", err: `outside("route", "ip+net", nil)`},
		"InterfaceAddrs":   {note: "A simulated host has lo and eth0.", err: `outside("route", "ip+net", nil)`},
		"InterfaceByIndex": {note: "A simulated host has lo and eth0.", err: `outside("route", "ip+net", nil)`},
		"InterfaceByName":  {note: "A simulated host has lo and eth0.", err: `outside("route", "ip+net", nil)`},

		"LookupAddr":  {note: simulatedNames, err: `unknown(addr)`},
		"LookupCNAME": {note: simulatedNames, err: `unknown(host)`},
		"LookupHost":  {note: simulatedNames, err: `unknown(host)`, when: `!isIP(host)`},
		"LookupIP":    {note: simulatedNames, err: `unknown(host)`, when: `!isIP(host)`},
		"LookupMX":    {note: simulatedNames, err: `unknown(name)`},
		"LookupNS":    {note: simulatedNames, err: `unknown(name)`},
		"LookupPort":  {note: "On a simulated host it reads that host's /etc/services, and knows the usual names without.", err: `unknown(network + "/" + service)`, when: `!isPort(service)`},
		"LookupSRV":   {note: simulatedNames, err: `unknown(name)`},
		"LookupTXT":   {note: simulatedNames, err: `unknown(name)`},

		"ResolveIPAddr":  {note: simulatedNames, err: `unknown(address)`, when: `!isHost(address)`},
		"ResolveTCPAddr": {note: simulatedNames, err: `unknown(address)`, when: `!isHostPort(address)`},
		"ResolveUDPAddr": {note: simulatedNames, err: `unknown(address)`, when: `!isHostPort(address)`},
	},
	types: map[string]string{
		"Dialer":       "Its methods are std's: on a simulated host they use the simulated network; elsewhere they are not refused.",
		"ListenConfig": "Its methods are std's: on a simulated host they use the simulated network; elsewhere they are not refused.",
		"Resolver":     "Its methods are std's: on a simulated host they ask that host's files and the simulated name server; elsewhere they are not refused.",
	},
	Assigned: map[string]string{
		"DefaultResolver": "On a simulated host it asks that host's files and the simulated name server.",
	},
}
