package analytics

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/tailrace/tailrace/packages/analytics-go/v2"

// writeProxy makes a folder that serves this module as the module proxy does: see `go help goproxy`.
func writeProxy(t *testing.T, version string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	versions := filepath.Join(folder, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(versions, 0o700); err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]string{"Version": version})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": goMod} {
		if err := os.WriteFile(filepath.Join(versions, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		entryFile, err := archive.Create(path.Join(modulePath+"@"+version, filepath.ToSlash(name)))
		if err != nil {
			return err
		}
		_, err = entryFile.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

const programOfAUser = `package main

import (
	"fmt"
	"os"

	analytics "` + modulePath + `"
)

func main() {
	client := analytics.New("wk_demo")
	client.Endpoint = os.Args[1]
	err := client.Track(&analytics.Track{UserId: "ada", Event: "Installed"})
	fmt.Println(analytics.Version, err, client.Close())
}
`

// A user gets the module with `go get`, builds a program with it, and can run its tests, without anything of this repository.
func TestTheModuleCanBeFetchedFromAProxy(t *testing.T) {
	version := "v" + Version
	if !strings.HasPrefix(version, "v2.") || !strings.HasSuffix(modulePath, "/v2") {
		t.Fatalf("the path of version %s must end in its major version", version)
	}
	app := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/app\n\ngo 1.21\n", "main.go": programOfAUser} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The cache is writable, so that the test can remove it.
	settings := []string{
		"GOPROXY=file://" + filepath.ToSlash(writeProxy(t, version)), "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + t.TempDir(),
		"GOTOOLCHAIN=local", "GOWORK=off", "GONOPROXY=none", "GOPRIVATE=",
	}
	run := func(arguments ...string) string {
		t.Helper()
		command := exec.Command("go", arguments...)
		command.Dir = app
		command.Env = append(os.Environ(), settings...)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, output)
		}
		return string(output)
	}
	run("get", modulePath+"@"+version)
	if got := run("list", "-m", "all"); !strings.Contains(got, modulePath+" "+version) || strings.Count(got, "\n") != 2 {
		t.Errorf("the program needs the modules\n%s", got)
	}
	recorder := newRecorder()
	server := httptest.NewServer(recorder)
	defer server.Close()
	if got := run("run", ".", server.URL); got != Version+" <nil> <nil>\n" {
		t.Errorf("the program printed %s", got)
	}
	if got := len(withoutRepetitions(recorder.all())); got != 1 {
		t.Errorf("%d calls arrived", got)
	}
	if got := run("test", "-run", "^(TestTables|ExampleNoop)$", modulePath); !strings.HasPrefix(got, "ok") {
		t.Errorf("its tests printed %s", got)
	}
}
