package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/dstkit/dst/passes"
)

// The part of SARIF 2.1.0 (OASIS) that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID        string    `json:"id"`
		Short     sarifText `json:"shortDescription"`
		Full      sarifText `json:"fullDescription"`
		HelpURI   string    `json:"helpUri"`
		Configure sarifConf `json:"defaultConfiguration"`
	}
	sarifConf struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       *int          `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

// printSARIF prints the findings as one SARIF run. Paths are relative to the
// working directory, under the base %SRCROOT%: run dstvet at the root of the repository.
func (f *findings) printSARIF(w io.Writer) error {
	driver := sarifDriver{Name: "dstvet", Version: version(), InformationURI: "https://github.com/dstkit/dst/blob/main/docs/dstvet.md"}
	index := make(map[string]int)
	for i, a := range passes.All() {
		title, rest, _ := strings.Cut(a.Doc, "\n")
		_, title, _ = strings.Cut(title, ": ")
		driver.Rules = append(driver.Rules, sarifRule{a.Name, sarifText{title}, sarifText{strings.TrimSpace(rest)}, a.URL, sarifConf{"warning"}})
		index[a.Name] = i
	}
	src := &sources{wd: workDir(), lines: make(map[string][][]byte)}
	results := []sarifResult{} // not null
	times := make(map[string]int)
	for _, x := range f.list {
		loc := src.location(x.Posn, x.End)
		// The line is left out: a finding stays the same when it moves.
		key := x.analyzer + "\x00" + loc.Physical.Artifact.URI + "\x00" + x.Message
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, times[key]))
		times[key]++
		r := sarifResult{
			RuleID: x.analyzer, RuleIndex: index[x.analyzer], Level: "warning", Message: sarifText{x.Message},
			Locations:    []sarifLocation{loc},
			Fingerprints: map[string]string{"dstvet/v1": hex.EncodeToString(sum[:16])},
		}
		for i, rel := range x.Related {
			l := src.location(rel.Posn, rel.End)
			l.ID, l.Message = &i, &sarifText{rel.Message}
			r.Related = append(r.Related, l)
		}
		results = append(results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{driver}, "unicodeCodePoints", results}},
	})
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "github.com/dstkit/dst" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return ""
}

// sources turns positions of package token, whose columns are bytes, into SARIF's.
type sources struct {
	wd    string
	lines map[string][][]byte
}

func (s *sources) location(posn, end string) sarifLocation {
	file, line, col := split(posn)
	r := sarifRegion{StartLine: line, StartColumn: s.column(file, line, col)}
	if efile, eline, ecol := split(end); efile == file && eline > 0 {
		r.EndLine, r.EndColumn = eline, s.column(file, eline, ecol)
	}
	a := sarifArtifact{}
	if rel := shorten(file, s.wd); filepath.IsAbs(rel) {
		a.URI = (&url.URL{Scheme: "file", Path: filepath.ToSlash(rel)}).String()
	} else {
		a.URI, a.Base = (&url.URL{Path: filepath.ToSlash(rel)}).String(), "%SRCROOT%"
	}
	return sarifLocation{Physical: sarifPhysical{a, r}}
}

// column counts code points; a file that cannot be read keeps its bytes.
func (s *sources) column(file string, line, col int) int {
	lines, ok := s.lines[file]
	if !ok {
		if data, err := os.ReadFile(file); err == nil {
			lines = bytes.Split(data, []byte("\n"))
		}
		s.lines[file] = lines
	}
	if line < 1 || line > len(lines) || col < 1 || col-1 > len(lines[line-1]) {
		return col
	}
	return utf8.RuneCount(lines[line-1][:col-1]) + 1
}
