import { isClusterName, labelKeyProblems, nameProblems } from "@virtual-workspaces/apimachinery";
import * as kcp from "@virtual-workspaces/kcp";
import {
  clusterOf,
  clusterURL,
  defaultBindingName,
  homeClusterName,
  lifecycleName,
  newClusterName,
  parseLifecycleName,
} from "@virtual-workspaces/kcp";
import * as names from "@virtual-workspaces/kcp/names";
import * as users from "@virtual-workspaces/kcp/users";
import { expect } from "chai";

describe("homeClusterName", () => {
  for (const [user, name] of Object.entries({
    "": "36ks9xj4a2n61",
    alice: "v1u4alow0iv9",
    bob: "2okdry95y5lkv",
    "user-with-dash": "1e25681jymk1l",
    "user:with:colons": "2bqfj6xlthg3t",
    user172: "0f9mt7goyif7",
  }))
    it(`returns ${name} for "${user}", like kcp`, () => expect(homeClusterName(user)).to.equal(name));
});

describe("newClusterName", () => {
  it("returns another valid name each time", () => {
    const names = Array.from({ length: 1000 }, () => newClusterName());
    expect(new Set(names)).to.have.lengthOf(names.length);
    for (const name of names) expect(isClusterName(name) && name.length === 16, name).to.equal(true);
  });

  it("returns the start of the token's hash", () => {
    // base36(sha224("hello")), as in kcp's tests
    expect(newClusterName(Buffer.from("hello"))).to.equal("2yfg0ibsewngbzap");
    expect(newClusterName(Buffer.from("input50"))).to.equal("04xtfzmllsov5334");
  });
});

describe("clusterOf", () => {
  it('returns the annotation of the object, or "" without it', () => {
    expect(clusterOf({ metadata: { annotations: { "kcp.io/cluster": "2x3y" } } })).to.equal("2x3y");
    expect(clusterOf({ metadata: { annotations: {} } })).to.equal("");
    expect(clusterOf({ metadata: {} })).to.equal("");
  });
});

describe("lifecycleName", () => {
  it("is split at its last colon", () => {
    const type = { cluster: "root:org", name: "team" };
    expect(lifecycleName(type)).to.equal("root:org:team");
    expect(parseLifecycleName("root:org:team")).to.deep.equal(type);
    expect(parseLifecycleName(kcp.API_BINDINGS_INITIALIZER)).to.deep.equal({
      cluster: kcp.SYSTEM_CLUSTER,
      name: "apibindings",
    });
  });

  it("is undefined without a colon", () => expect(parseLifecycleName("pluto")).to.equal(undefined));
});

describe("defaultBindingName", () => {
  const binding = { cluster: "root:some:ws", exportPath: "root:some:export:ws" };

  for (const [length, kept] of [
    [1, 1],
    [247, 247],
    [248, 247],
    [263, 247],
  ] as const)
    it(`keeps ${kept} of ${length} characters`, () => {
      const name = defaultBindingName({ ...binding, exportName: "a".repeat(length) });
      expect(name).to.match(new RegExp(`^a{${kept}}-[0-9a-z]{5}$`));
      expect(nameProblems(name)).to.deep.equal([]);
    });

  it("distinguishes exports whose names begin alike", () => {
    const [a, b] = ["a", "ab"].map((end) => defaultBindingName({ ...binding, exportName: "x".repeat(247) + end }));
    expect(a).not.to.equal(b);
  });
});

describe("clusterURL", () => {
  it("accepts a trailing slash of the server's URL", () => {
    expect(clusterURL("https://root.io", "34")).to.equal("https://root.io/clusters/34");
    expect(clusterURL("https://root.io/kcp/", "root:org")).to.equal("https://root.io/kcp/clusters/root:org");
  });
});

describe("well-known names", () => {
  const named = (ending: RegExp): [string, string][] =>
    Object.entries({ ...kcp, ...names, ...users }).flatMap(([name, value]): [string, string][] =>
      ending.test(name) && typeof value === "string" ? [[name, value]] : [],
    );

  it("of annotations, labels and finalizers are qualified names, and prefixes of such", () => {
    const keys = named(/_(ANNOTATION|LABEL|FINALIZER)(_PREFIX)?$/);
    expect(keys).to.have.length.above(30);
    for (const [name, value] of keys)
      expect(labelKeyProblems(name.endsWith("_PREFIX") ? `${value}x` : value), name).to.deep.equal([]);
  });

  it("are unique", () => {
    for (const kind of [/_ANNOTATION(_PREFIX)?$/, /_LABEL(_PREFIX)?$/, /_GROUP(_PREFIX)?$/, /_EXTRA$/, /_FINALIZER$/]) {
      const values = named(kind).map(([, value]) => value);
      expect(new Set(values)).to.have.lengthOf(values.length);
    }
  });

  it("of logical clusters are valid", () => {
    for (const [name, value] of named(/_CLUSTER$/)) expect(isClusterName(value), name).to.equal(true);
  });
});
