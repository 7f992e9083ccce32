// Arguments of `kubectl ws`, like the tests of kcp's plugin.
import { expect } from "chai";
import { selectorObject } from "../../../packages/cli/src/ws/create.ts";
import { parseDestination, parseWorkspaceUrl, resolvePath, topOf } from "../../../packages/cli/src/ws/session/path.ts";
import { drawTree } from "../../../packages/cli/src/ws/tree.ts";

const HERE = { base: "https://h:6443", home: "/home/ann" };

describe("kubectl ws reads", () => {
  it("the workspace of a URL: the first /clusters/ counts, and the part before it is kept", () => {
    const cases = [
      ["https://h:6443/clusters/root:org", { base: "https://h:6443", path: "root:org" }],
      ["https://h/abc/clusters/root/apis", { base: "https://h/abc", path: "root" }],
      ["https://h/clusters/a%3Ab", { base: "https://h", path: "a:b" }],
      ["https://h/clusters/a/clusters/b", { base: "https://h", path: "a" }],
      ["https://h", undefined],
      ["https://h/clusters/", undefined],
      ["https://h:6443/services/clusterproxy/root:a/shop", { base: "https://h:6443", path: "root:a", proxy: "shop" }],
      ["https://h/x/services/clusterproxy/root%3aa/shop/", { base: "https://h/x", path: "root:a", proxy: "shop" }],
      ["https://h/services/clusterproxy/root:a", undefined],
      ["https://h/services/clusterproxy/root:a/shop/api", undefined],
      ["https://h/services/clusterproxy/*/shop", undefined],
      ["https://h/clusters/*", undefined],
      ["https://h/clusters/Root", undefined],
      ["no URL", undefined],
    ] as const;
    for (const [url, place] of cases) expect(parseWorkspaceUrl(url), url).to.deep.equal(place);
  });

  it("arguments", () => {
    const cases = [
      [".", { to: "current" }],
      ["-", { to: "previous" }],
      [":", { to: "top" }],
      ["~", { to: "home", below: "" }],
      ["~:x:y", { to: "home", below: "x:y" }],
      ["/home/ann", { to: "home", below: "" }],
      ["/home/ann/x", { to: "home", below: "x" }],
      ["/home/anna", { to: "absolute", path: "home:anna" }],
      ["a", { to: "relative", path: "a" }],
      ["a/b", { to: "relative", path: "a:b" }],
      ["../..", { to: "relative", path: "..:.." }],
      [":root:a", { to: "absolute", path: "root:a" }],
      ["/root/a", { to: "absolute", path: "root:a" }],
      ["https://h:6443/clusters/root:a", { to: "absolute", path: "root:a" }],
      ["https://h:6443/services/clusterproxy/root:a/shop", { to: "proxy", path: "root:a", proxy: "shop" }],
    ] as const;
    for (const [word, wanted] of cases) expect(parseDestination(word, HERE), word).to.deep.equal(wanted);
    expect(parseDestination("/a", { ...HERE, home: "/" })).to.deep.equal({ to: "absolute", path: "a" });
  });

  it("no URL of another server, and none without a workspace", () => {
    for (const url of ["https://other/clusters/root", "http://h:6443/clusters/root", "https://h:6443/x/clusters/root"])
      expect(() => parseDestination(url, HERE), url).to.throw(
        `${url} is not a URL of https://h:6443: use a kubeconfig`,
      );
    expect(() => parseDestination("https://h:6443/x", HERE)).to.throw("does not point to a workspace");
  });

  it("dots in a path, but not above the root", () => {
    const cases = [
      ["a", "root", "root:a"],
      ["..", "root:a:b", "root:a"],
      ["..:..:c", "root:a:b", "root:c"],
      [".:a:.", "root", "root:a"],
      ["root:a:..", "", "root"],
      ["system:admin", "", "system:admin"],
    ] as const;
    for (const [path, from, to] of cases) expect(resolvePath(path, from, path), path).to.equal(to);
    for (const path of ["..", "..:..", ".:..", "a:..:.."])
      expect(() => resolvePath(path, "root", path), path).to.throw(/^cannot go up from root$/);
    expect(() => resolvePath("..", "1x2y3z", "..")).to.throw(/^cannot go up from 1x2y3z$/);
    expect(() => resolvePath("..", "", ":..")).to.throw(/^cannot go up from root$/);
    for (const path of ["", "a b", "A", "a::b", "a:", "-x", "a%2Fb", "x".repeat(64)])
      expect(() => resolvePath(path, "root", path), path).to.throw(`invalid workspace path: ${path}`);
    expect([topOf("root:a:b"), topOf("2x3y:a"), topOf("root")]).to.deep.equal(["root", "2x3y", "root"]);
  });

  it("selectors in the form of objects", () => {
    expect(
      selectorObject("region=eu,tier!=gold,zone in (a,b),ssd,!old,x notin (y)", "--location-selector"),
    ).to.deep.equal({
      matchLabels: { region: "eu" },
      matchExpressions: [
        { key: "old", operator: "DoesNotExist" },
        { key: "ssd", operator: "Exists" },
        { key: "tier", operator: "NotIn", values: ["gold"] },
        { key: "x", operator: "NotIn", values: ["y"] },
        { key: "zone", operator: "In", values: ["a", "b"] },
      ],
    });
    expect(selectorObject("", "--location-selector")).to.deep.equal({});
    expect(() => selectorObject("a>1", "--location-selector")).to.throw(
      '--location-selector a>1: ">" cannot be stored',
    );
    expect(() => selectorObject("a in", "--location-selector")).to.throw("--location-selector a in: ");
  });

  it("and draws trees as kcp does", () => {
    const leaf = (label: string, ...columns: string[]) => ({ label, columns, branches: [] });
    const tree = {
      label: "root",
      columns: ["ws=-"],
      branches: [{ ...leaf("a", "ws=Ready"), branches: [leaf("b [m]")] }, leaf("long-one", "ws=Unavailable", "x")],
    };
    expect(drawTree(tree).split("\n")).to.deep.equal([
      ".",
      "└── root          ws=-",
      "    ├── a         ws=Ready",
      "    │   └── b [m]",
      "    └── long-one  ws=Unavailable  x",
    ]);
  });
});
