// Package debian installs what the tests need and the machine lacks.
package debian

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Install runs apt-get as root, or through sudo where that asks for no password.
func Install(name string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("there is no apt-get here")
	}
	var sudo []string
	if os.Geteuid() != 0 {
		if err := exec.Command("sudo", "-n", "true").Run(); err != nil {
			return errors.New("apt-get needs root or a sudo without password")
		}
		sudo = []string{"sudo", "-n"}
	}
	// Several test processes may come here at once: they queue for the package manager's lock.
	apt := append(sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300")
	get := append(append([]string{}, apt...), "install", "--no-install-recommends", name)
	if err := run(get); err == nil {
		return nil
	}
	if err := run(append(append([]string{}, apt...), "update")); err != nil {
		return err
	}
	return run(get)
}

func run(command []string) error {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", command, err, out)
	}
	return nil
}
