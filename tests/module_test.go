package tests

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const sdkModule = module + "sdk"

// most is how many modules may be in the build list of a program that requires the SDK, the program among them.
const most = 3

// consumer is a program of somebody who has the SDK alone.
const consumer = `package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/tillwright/tillwright/sdk"
)

func main() {
	client := sdk.New(os.Getenv("TILLWRIGHT_API_KEY"), sdk.WithBaseURL("https://shop.example/v1"))
	for product, err := range sdk.All(context.Background(), client.Products.List, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(product.Name)
	}
	http.HandleFunc("/hooks", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		event, err := sdk.VerifyWebhook(body, r.Header, os.Getenv("SECRET"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Println(event.ID)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8090", nil))
}
`

// TestSDK_IsAModuleOfItsOwn builds a program outside of the repository from what a tag would hold, as a module proxy serves it.
func TestSDK_IsAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	const version = "v1.2.3"
	dir := t.TempDir()
	proxy := filepath.Join(dir, "proxy")
	serveModule(t, proxy, "../sdk", sdkModule, version)
	program := filepath.Join(dir, "program")
	write(t, filepath.Join(program, "go.mod"), "module example.org/shop\n\ngo 1.26.0\n\nrequire "+sdkModule+" "+version+"\n")
	write(t, filepath.Join(program, "main.go"), consumer)
	// The modules that the SDK requires were fetched with the server's. Their cache is laid out as a proxy is.
	cached := filepath.Join(strings.TrimSpace(run(t, ".", nil, "go", "env", "GOMODCACHE")), "cache", "download")
	env := []string{"GOWORK=off", "GOPROXY=file://" + proxy + ",file://" + cached, "GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=none", "GOMODCACHE=" + filepath.Join(dir, "modules"),
		"GOFLAGS=-mod=mod -modcacherw -trimpath", "CGO_ENABLED=0"}
	run(t, program, env, "go", "mod", "tidy")
	list := strings.Fields(run(t, program, env, "go", "list", "-m", "-f", "{{.Path}}", "all"))
	assert.LessOrEqual(t, len(list), most)
	assert.Contains(t, list, sdkModule)
	assert.NotContains(t, list, strings.TrimSuffix(module, "/"))
	run(t, program, env, "go", "build", "-o", filepath.Join(dir, "shop"), ".")
}

// serveModule writes the files of a folder that belong to the tree into a folder that is a module proxy. There they are one version of a module.
func serveModule(t *testing.T, proxy, folder, path, version string) {
	t.Helper()
	at := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	gomod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(at, "list"), version+"\n")
	write(t, filepath.Join(at, version+".info"), `{"Version":"`+version+`"}`)
	write(t, filepath.Join(at, version+".mod"), string(gomod))
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	files := strings.FieldsFunc(run(t, folder, nil, "git", "ls-files", "-co", "--exclude-standard", "-z"), func(r rune) bool { return r == 0 })
	if len(files) < 20 {
		t.Fatalf("git knows only %d files of %s", len(files), folder)
	}
	z := zip.NewWriter(archive)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(path + "@" + version + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// goMod is what go mod edit says of a go.mod.
type goMod struct {
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace, Exclude []json.RawMessage
}

func readGoMod(t *testing.T, folder string) *goMod {
	t.Helper()
	var read goMod
	if err := json.Unmarshal([]byte(run(t, folder, nil, "go", "mod", "edit", "-json")), &read); err != nil {
		t.Fatal(err)
	}
	return &read
}

// go install of a version refuses a go.mod that replaces or excludes something. Only a release names an SDK that can be fetched.
func TestProgram_ReplacesNothing(t *testing.T) {
	t.Parallel()
	read := readGoMod(t, "..")
	if len(read.Replace)+len(read.Exclude) > 0 {
		t.Errorf("go.mod replaces or excludes modules: %s %s", read.Replace, read.Exclude)
	}
	requires := false
	for _, r := range read.Require {
		requires = requires || r.Path == sdkModule && !r.Indirect
	}
	if !requires {
		t.Errorf("go.mod does not require %s", sdkModule)
	}
}

// The server's tests are the SDK's too, so both require the same versions.
func TestSDK_RequiresWhatTheServerDoes(t *testing.T) {
	t.Parallel()
	versions := map[string]string{}
	for _, r := range readGoMod(t, "..").Require {
		versions[r.Path] = r.Version
	}
	for _, r := range readGoMod(t, "../sdk").Require {
		if versions[r.Path] != r.Version {
			t.Errorf("the SDK requires %s %s, and the server %q", r.Path, r.Version, versions[r.Path])
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}
