package simnet

// EtcHosts returns the content of /etc/hosts on the named host.
func (n *Network) EtcHosts(host string) []byte { panic("simnet: not built yet") }

// EtcHostname returns the content of /etc/hostname on the named host.
func (n *Network) EtcHostname(host string) []byte { panic("simnet: not built yet") }

// EtcResolvConf returns the content of /etc/resolv.conf.
func (n *Network) EtcResolvConf(host string) []byte { panic("simnet: not built yet") }

// EtcNsswitchConf returns the content of /etc/nsswitch.conf: names come from
// files only, so that an unknown name fails at once.
func (n *Network) EtcNsswitchConf(host string) []byte { panic("simnet: not built yet") }
