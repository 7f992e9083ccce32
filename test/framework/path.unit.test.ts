// The only path matcher: its result for every URL, valid or malicious.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import fc from "fast-check";
import {
  decodeSegment,
  type Match,
  type Matchable,
  PathMatcher,
  parsePattern,
} from "../../packages/framework/src/request/path.ts";
import { computed } from "../_support/cpu.ts";

const VIEWS = [
  { name: "root", path: "/" },
  { name: "plain", path: "/clusters/:cluster" },
  { name: "wild", path: "/clusters/:cluster", wildcard: true },
  { name: "raw", path: "/clusters/:cluster/mounts/:mount", rawTail: true },
  { name: "named", path: "/:org/:team" },
  { name: "own", prefix: "/clusters", path: "/:cluster", wildcard: true, locates: true },
  { name: "repeats", path: "/:cluster", locates: true, clusterSuffix: true },
  { name: "deep", prefix: "/a/b.c", path: "/" },
] as const satisfies readonly Matchable[];
const matcher = new PathMatcher<Matchable>(VIEWS);

/** Returns the result in a word or two. */
function outcome(path: string): string {
  const found = matcher.match(path);
  if (found.kind !== "match") return found.kind;
  const params = Object.entries(found.params).map(([name, value]) => `${name}=${value}`);
  return [found.view.name, ...params, found.tail].join(" ");
}

const errorOf = (found: Match<Matchable>): ApiError | undefined => (found.kind === "match" ? undefined : found.error);

describe("the path matcher", () => {
  const table: Record<string, string> = {
    "/services/root": "root ",
    "/services/root/": "root /",
    "/services/root/apis": "root /apis",
    "/services/plain/clusters/root": "plain cluster=root ",
    "/services/plain/clusters/root/": "plain cluster=root /",
    "/services/plain/clusters/root/apis/g/v1/": "plain cluster=root /apis/g/v1/",
    "/services/plain/clusters/r%6Fot/apis": "plain cluster=root /apis",
    "/services/plain/clusters/system:admin/apis": "plain cluster=system:admin /apis",
    "/services/plain/clusters/root/apis/caf%C3%A9": "plain cluster=root /apis/caf%C3%A9",
    "/services/plain/%63lusters/root": "plain cluster=root ",
    "/services/wild/clusters/*/apis": "wild cluster=* /apis",
    "/services/wild/clusters/%2A/apis": "wild cluster=* /apis",
    "/services/raw/clusters/root/mounts/m/a//b/%2F%252e//": "raw cluster=root mount=m /a//b/%2F%252e//",
    "/services/raw/clusters/root/mounts/m/.hidden/..., a;b": "raw cluster=root mount=m /.hidden/..., a;b",
    "/services/named/a%20b/c.d/e": "named org=a b team=c.d /e",

    "/services/repeats/root": "repeats cluster=root ",
    "/services/repeats/root/": "repeats cluster=root /",
    "/services/repeats/root/apis": "repeats cluster=root /apis",
    "/services/repeats/root/clusters/root": "repeats cluster=root ",
    "/services/repeats/root/clusters/root/": "repeats cluster=root /",
    "/services/repeats/root/clusters/r%6Fot/apis": "repeats cluster=root /apis",
    "/services/repeats/root/clusters/*/apis": "repeats cluster=root /apis",
    "/services/repeats/root:org/clusters/root:org/apis": "repeats cluster=root:org /apis",
    "/services/repeats/root/clusters": "repeats cluster=root /clusters",
    "/services/repeats/root/clusters/": "repeats cluster=root /clusters/",
    "/services/repeats/root/clustersroot/apis": "repeats cluster=root /clustersroot/apis",
    "/services/repeats/root/clusters/other/apis": "no-match",
    "/services/repeats/root/clusters/root:org/apis": "no-match",
    "/services/repeats/root/clusters/root%2Fapis": "bad-request",
    "/services/repeats/root/clusters//apis": "bad-request",
    "/services/repeats/root/clusters/*/clusters/*/apis": "repeats cluster=root /clusters/*/apis",
    "/services/repeats/*/clusters/*/apis": "bad-request",

    "/clusters/root/apis": "own cluster=root /apis",
    "/clusters/root:org:team/apis": "own cluster=root:org:team /apis",
    "/clusters/root%3Aorg/apis": "own cluster=root:org /apis",
    "/clusters/system:admin/": "own cluster=system:admin /",
    "/clusters/*/apis": "own cluster=* /apis",
    "/a/b.c": "deep ",
    "/a/b.c/apis": "deep /apis",

    "/clusters": "no-match",
    "/clusters/": "no-match",
    "/clustersroot/apis": "no-match",
    "/Clusters/root/apis": "no-match",
    "/%63lusters/root/apis": "no-match",
    "/services/own": "no-match",
    "/services/own/root/apis": "no-match",
    "/services/clusters/root/apis": "no-match",
    "/a": "no-match",
    "/a/b": "no-match",
    "/a/b.cd": "no-match",
    "/clusters//root": "bad-request",
    "/clusters/root:/apis": "bad-request",
    "/clusters/:root/apis": "bad-request",
    "/clusters/root::org/apis": "bad-request",
    "/clusters/root:*/apis": "bad-request",
    "/clusters/root:Org/apis": "bad-request",
    "/clusters/root/a%2Fb": "bad-request",
    "/clusters/root/..": "bad-request",

    "/": "no-match",
    "/services": "no-match",
    "/services/": "no-match",
    "/services/other": "no-match",
    "/services/Plain/clusters/root": "no-match",
    "/services/plai%6E/clusters/root": "no-match",
    "/services/__proto__/clusters/root": "no-match",
    "/services/plain": "no-match",
    "/services/plain/": "no-match",
    "/services/plain/clusters": "no-match",
    "/services/plain/clusters/": "no-match",
    "/services/plain/workspaces/root": "no-match",
    "/servicesplain/clusters/root": "no-match",
    "/SERVICES/plain/clusters/root": "no-match",
    "//services/plain/clusters/root": "no-match",

    "": "bad-request",
    "services/plain/clusters/root": "bad-request",
    "http://x/services/plain/clusters/root": "bad-request",
    "*": "bad-request",
    "/services//plain/clusters/root": "no-match",
    "/services/plain//root": "bad-request",
    "/services/plain/clusters//apis": "bad-request",
    "/services/plain/clusters/root//apis": "bad-request",
    "/services/plain/clusters/root/apis//": "bad-request",
    "/services/plain/clusters/*/apis": "bad-request",
    "/services/plain/clusters/Root": "bad-request",
    "/services/plain/clusters/root:org": "bad-request",
    "/services/plain/clusters/a%2Fb": "bad-request",
    "/services/plain/clusters/%2572oot": "bad-request",
    "/services/plain/clusters/%ZZ": "bad-request",
    "/services/plain/clusters/%": "bad-request",
    "/services/plain/clusters/ro\xc3\xb6t": "bad-request",
    "/services/named/\xc3\xb6/team": "bad-request",
    "/services/named/%FF/team": "bad-request",
    "/services/named/a%00/team": "bad-request",
    "/services/plain/clusters/root/a\\b": "bad-request",
    "/services/plain/clusters/root/a%5cb": "bad-request",
    "/services/plain/clusters/root/a%2Fb": "bad-request",
    "/services/plain/clusters/root/a%252Fb": "bad-request",
    "/services/plain/clusters/root/a%C3": "bad-request",
    "/services/plain/clusters/root/caf\xc3\xa9": "bad-request",
    "/services/plain/clusters/root/a\0b": "bad-request",
  };
  for (const [path, expected] of Object.entries(table)) {
    it(`answers ${JSON.stringify(path)} with ${expected}`, () => expect(outcome(path)).to.equal(expected));
  }

  const dots = [
    "/.",
    "/..",
    "/%2e",
    "/%2E",
    "/.%2e",
    "/%2e.",
    "/%2E%2e",
    "\\..",
    "%5c..",
    "%5C%2e",
    "%2f..",
    "%2F%2e%2E",
  ];
  const behind = ["", "/", "/x", "\\", "%5c", "%5Cx", "%2f", "%2Fx", ";", ";x", "%3b"];
  it("rejects dot segments everywhere, also in forwarded tails", () => {
    for (const base of ["/services/raw/clusters/root/mounts/m", "/services/plain/clusters/root", "/services", "", "/x"])
      for (const dot of dots)
        for (const rest of behind) {
          const path = `${base}${dot}${rest}`;
          if (path.startsWith("/")) expect(outcome(path), path).to.equal("bad-request");
        }
  });

  it("rejects NUL everywhere, and characters that URL parsers drop", () => {
    for (const nul of ["\0", "%00", "a%00b", ".\t/", "a\nb", "\r"])
      expect(outcome(`/services/raw/clusters/root/mounts/m/${nul}`), nul).to.equal("bad-request");
  });

  it("names the error and the valid form", () => {
    const messages: Record<string, string> = {
      "/services/nope": 'there is no virtual workspace "nope"; see /services/<name>',
      "/other": "no virtual workspace is served at /other; they are below /services/<name>, /clusters, /a/b.c",
      "/services/own/root": 'virtual workspace "own" is not below /services; it is at /clusters',
      "/clusters": "/clusters is followed by /:cluster; :cluster is missing in /clusters",
      "/clusters/root:": 'invalid cluster: "root:" does not match the regex',
      "/services/plain/clusters/*": "name one instead of *",
      "/services/plain/clusters": "/services/plain is followed by /clusters/:cluster; :cluster is missing",
      "/services/plain/clusters/Root": '"Root" is not a logical cluster name',
      "/services/plain/clusters/a%2Fb": "encoded slash",
      "/services/root/..": ". or .. segments",
    };
    for (const [path, message] of Object.entries(messages))
      expect(errorOf(matcher.match(path))?.message, path).to.include(message);
  });
});

/** Parts of paths, chosen so that most generated paths are nearly valid. */
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("services", "plain", "wild", "raw", "named", "clusters", "mounts", "root", "a-b"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("", "*", ".", "..", "...", "%2e", "%2E%2e", "%2F", "%252f", "%00", "%", "%C3%A9"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 6 }) },
  { weight: 1, arbitrary: fc.webSegment() },
);
const path = fc
  .tuple(
    fc.constantFrom("/", "/services/", "/services/raw/clusters/root/mounts/m/", "/clusters/", ""),
    fc.array(piece, { maxLength: 9 }),
  )
  .map(([start, pieces]) => start + pieces.join("/"));
const RUNS = { numRuns: 20_000 };

describe("the path matcher, for any URL,", () => {
  it("returns one of its results: a view, 404, or 400", () => {
    fc.assert(
      fc.property(path, (text) => {
        const found = matcher.match(text);
        if (found.kind === "match") return;
        expect(found.error).to.be.instanceOf(ApiError);
        expect(found.error.code).to.equal(found.kind === "no-match" ? 404 : 400);
      }),
      RUNS,
    );
  });

  it("keeps every byte: prefix and tail form the path, and parameters are in the prefix", () => {
    fc.assert(
      fc.property(path, (text) => {
        const found = matcher.match(text);
        if (found.kind !== "match") return;
        expect(found.prefix + found.tail).to.equal(text);
        expect(found.tail).to.match(/^(\/|$)/);
        const names = (found.view.path.match(/:\w+/g) ?? []).map((name) => name.slice(1));
        expect(Object.keys(found.params)).to.deep.equal(names);
        const parts = found.prefix.split("/").map((part) => decodeURIComponent(part));
        for (const value of Object.values(found.params)) expect(parts).to.include(value);
      }),
      RUNS,
    );
  });

  it("rejects every path that another reader would resolve, split or decode differently", () => {
    fc.assert(
      fc.property(path, (text) => {
        const found = matcher.match(text);
        if (found.kind !== "match") return;
        // Resolved as by a URL parser, a decoding proxy and a file system. Forwarded tails keep backslashes.
        const kept = found.view.rawTail === true ? /[?#\\]/g : /[?#]/g;
        const { pathname } = new URL(`http://x${text.replace(kept, "_")}`);
        expect(pathname.split("/").length).to.equal(text.split("/").length);
        expect(unescape(text)).not.to.match(/[/\\]\.{1,2}([/\\;]|$)|\0/);
        if (found.view.rawTail === true) return;
        expect(text).not.to.include("//");
        expect(unescape(text).split("/")).to.have.length(text.split("/").length);
        expect(decodeURIComponent(decodeURIComponent(text))).to.equal(decodeURIComponent(text));
      }),
      RUNS,
    );
  });

  it("accepts paths with and without a slash at the end", () => {
    fc.assert(
      fc.property(path, (text) => {
        const found = matcher.match(text);
        if (found.kind !== "match" || text.endsWith("/")) return;
        expect(outcome(`${text}/`)).to.equal(`${outcome(text)}/`);
      }),
      RUNS,
    );
  });

  it("matches the longest path that fits in a header block quickly", () => {
    const size = 2 ** 20;
    const pieces = ["/", "/a", "%2e", "%", "/%2", "/.%2", "\\", "a", "%41", "%25", "*", ";/"];
    for (const start of ["/", "/services/plain/clusters/root/", "/services/raw/clusters/root/mounts/m/"])
      for (const one of pieces) {
        const text = start + one.repeat(size / one.length);
        const began = computed();
        matcher.match(text);
        expect(computed() - began, `${start}${one}…`).to.be.below(1000);
      }
  });
});

describe("segments", () => {
  it("are decoded exactly once, or not at all", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        const decoded = decodeSegment(encodeURIComponent(text));
        if (/[/\\\0]|%[0-9a-f]{2}/i.test(text)) expect(decoded).to.equal(undefined);
        else expect(decoded).to.equal(text);
      }),
    );
  });
});

describe("path patterns", () => {
  it("consist of words and parameters", () => {
    expect(parsePattern("/")).to.deep.equal([]);
    expect(parsePattern("/clusters/:cluster/a.b-c_d")).to.deep.equal(["clusters", ":cluster", "a.b-c_d"]);
  });

  const wrong: Record<string, string> = {
    "clusters/:cluster": "start it with a slash",
    "/clusters/": "do not end it with one",
    "//x": 'segment "" must be a word or a :parameter',
    "/a b": 'segment "a b" must be a word or a :parameter',
    "/:": 'segment ":" must be a word or a :parameter',
    "/:a-b": 'segment ":a-b"',
    "/..": 'segment ".."',
    "/%2e": 'segment "%2e"',
    "/*": 'segment "*"',
    "/:a/:a": "name each parameter once",
  };
  for (const [pattern, message] of Object.entries(wrong)) {
    it(`are rejected: ${pattern}`, () => expect(() => parsePattern(pattern)).to.throw(message));
  }

  it("follow a prefix of plain segments that no other view has", () => {
    const view = (name: string, prefix?: string): Matchable => ({ name, prefix, path: "/" });
    const wrong: Record<string, string> = {
      "": "add a segment",
      clusters: "start it with a slash",
      "/clusters/": "do not end it with one",
      "/:cluster": "move :cluster to the path",
      "/a//b": "must be a word",
      "/services/x": "/services belongs to the server",
      "/readyz/x": "/readyz belongs to the server",
      "/livez": "/livez belongs to the server",
      "/metrics": "/metrics belongs to the server",
    };
    for (const [prefix, message] of Object.entries(wrong))
      expect(() => new PathMatcher([view("a", prefix)]), prefix).to.throw(message);
    for (const [one, other] of [
      ["/x", "/x"],
      ["/x", "/x/y"],
      ["/x/y", "/x"],
    ] as const)
      expect(() => new PathMatcher([view("a", one), view("b", other)])).to.throw(
        `virtual workspaces a (${one}) and b (${other}) overlap`,
      );
    expect(new PathMatcher([view("a", "/x"), view("b", "/xy"), view("c", "/y/x")]).views).to.have.length(3);
    expect(() => new PathMatcher([view("a", "/"), view("b", "/")])).to.throw("a (/) and b (/) overlap");
    const rest = new PathMatcher([view("a", "/"), view("b", "/x"), view("c")]);
    for (const [path, name] of [
      ["/", "a"],
      ["/api/v1", "a"],
      ["/xy", "a"],
      ["/x/y", "b"],
      ["/services/c/api", "c"],
    ] as const)
      expect(rest.match(path), path).to.have.nested.property("view.name", name);
    expect(rest.match("/api/v1")).to.include({ prefix: "", tail: "/api/v1" });
    for (const [path, why] of [
      ["/services/a", "it is at /"],
      ["/services/d", 'there is no virtual workspace "d"'],
      ["/services", 'there is no virtual workspace ""'],
    ] as const) {
      const found = rest.match(path);
      expect(found, path).to.include({ kind: "match", prefix: "", tail: path });
      expect(found, path).to.have.nested.property("view.name", "a");
      expect(found, path).to.have.nested.property("misfit.message").that.includes(why);
    }
    const deep = new PathMatcher([{ name: "a", prefix: "/", path: "/:cluster" }, view("c")]);
    expect(errorOf(deep.match("/services/d"))?.message).to.include("there is no virtual workspace");
    const strange = new PathMatcher([view("a", "/services"), view("b", "/x"), view("c"), view("d", "/")]);
    for (const [path, name] of [
      ["/services/a/api", "a"],
      ["/services/b/api", "a"],
      ["/services/other", "a"],
      ["/services", "a"],
      ["/services/c/api", "c"],
      ["/servicesx", "d"],
    ] as const)
      expect(strange.match(path), path).to.have.nested.property("view.name", name);
    expect(strange.match("/services/other/api")).to.include({ prefix: "/services", tail: "/other/api" });
    expect(() => new PathMatcher([view("a", "/services"), view("b", "/services")])).to.throw("overlap");
    const found = new PathMatcher([view("a", "/x")]).match("/other");
    expect(errorOf(found)?.message).to.match(/they are below \/x$/);
  });

  it("belong to views with different and plain names", () => {
    const view = (name: string): Matchable => ({ name, path: "/" });
    expect(() => new PathMatcher([view("a"), view("a")])).to.throw("duplicate virtual workspace name a");
    for (const name of ["", "A", "a/b", "a.b", "-a", "a-", "..", "a b", "a%62"])
      expect(() => new PathMatcher([view(name)]), name).to.throw("use lower-case letters, digits and dashes");
  });
});
