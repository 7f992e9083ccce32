// Inheritance of workspace types, and their limits.
import type { WorkspaceType, WorkspaceTypeSpec } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import {
  initializersOf,
  limitProblems,
  qualifiedName,
  terminatorsOf,
  together,
  WorkspaceTypes,
} from "../../../packages/workspace-server/src/workspaces/model/workspace-types.ts";

/** Returns types by `<path>:<name>`; the logical cluster of `root:org` is named `c-org`. */
function types(specs: Record<string, WorkspaceTypeSpec & { readonly extends?: readonly string[] }>) {
  const all = Object.entries(specs).map(([key, { extends: bases = [], ...spec }]) => {
    const at = key.lastIndexOf(":");
    const [path, name] = [key.slice(0, at), key.slice(at + 1)];
    const cluster = path === "root" ? "root" : `c-${path.split(":").at(-1)}`;
    const type = {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "WorkspaceType",
      metadata: { name, annotations: { "kcp.io/path": path, "kcp.io/cluster": cluster } },
      spec: { ...spec, extend: { with: bases.map(reference) } },
    } as WorkspaceType;
    return { keys: [key, `${cluster}:${name}`], type };
  });
  return new WorkspaceTypes({
    workspaceTypes: (key) => all.filter(({ keys }) => keys.includes(key)).map(({ type }) => type),
  });
}

function reference(text: string) {
  const at = text.lastIndexOf(":");
  return at === -1 ? { name: text } : { name: text.slice(at + 1), path: text.slice(0, at) };
}

const names = (all: readonly WorkspaceType[]): string[] => all.map(qualifiedName);

describe("Workspace types", () => {
  it("are found only at the given path, or by logical cluster", () => {
    const found = types({ "root:org:a": {}, "root:b": {} });
    expect(qualifiedName(found.find("root", reference("root:org:a")))).to.equal("root:org:a");
    expect(qualifiedName(found.find("root", reference("c-org:a")))).to.equal("root:org:a");
    expect(() => found.find("root:org", reference("root:org:b"))).to.throw(
      'Internal error occurred: workspacetypes.tenancy.kcp.io "root:org:b" not found',
    );
  });

  it("are found without a path in the nearest ancestor, finally in root", () => {
    const found = types({ "root:org:a": {}, "root:a": {}, "root:b": {} });
    const at = (from: string, name: string): string => qualifiedName(found.find(from, { name }));
    expect(at("root:org:team:x", "a")).to.equal("root:org:a");
    expect(at("root:other", "a")).to.equal("root:a");
    expect(at("user:alice", "b")).to.equal("root:b");
    expect(at("2x3y4z", "b")).to.equal("root:b");
    for (const from of ["root", "root:org", "user:alice"]) {
      expect(() => found.find(from, { name: "c" })).to.throw('workspace type "c" cannot be resolved');
    }
  });

  it("are rejected as ambiguous if there are two", () => {
    const [type] = [types({ "root:a": {} }).get("root:a")];
    const twice = new WorkspaceTypes({ workspaceTypes: () => [type, type] });
    expect(() => twice.find("root", { name: "a" })).to.throw(
      "Internal error occurred: multiple workspacetypes.tenancy.kcp.io found for root:a",
    );
  });

  it("list all types they extend, once each, and themselves last", () => {
    const found = types({
      "root:d": {},
      "root:c": { extends: ["root:d"] },
      "root:b": { extends: ["root:d"] },
      "root:org:a": { extends: ["b", "root:c", "root:d"] },
    });
    expect(names(found.aliases(found.get("root:org:a")))).to.deep.equal(["root:b", "root:d", "root:c", "root:org:a"]);
    expect(names(found.aliases(found.get("root:d")))).to.deep.equal(["root:d"]);
  });

  it("report missing types and cycles", () => {
    const found = types({
      "root:a": { extends: ["root:b"] },
      "root:b": { extends: ["root:c"] },
      "root:c": { extends: ["root:b"] },
      "root:self": { extends: ["self"] },
      "root:lost": { extends: ["root:org:nothing"] },
    });
    const aliases = (name: string) => () => found.aliases(found.get(name));
    expect(aliases("root:a")).to.throw("circular dependency detected in workspace type root:b: root:b -> root:c");
    expect(aliases("root:self")).to.throw("circular dependency detected in workspace type root:self: root:self");
    expect(aliases("root:lost")).to.throw("unable to find inherited workspace type nothing");
  });

  it("can extend one another 20,000 levels deep", () => {
    const type = (at: number): WorkspaceType =>
      ({
        metadata: { name: `t${at}`, annotations: { "kcp.io/path": "root" } },
        spec: { extend: { with: at < 20_000 ? [{ name: `t${at + 1}`, path: "root" }] : [] } },
      }) as unknown as WorkspaceType;
    const deep = new WorkspaceTypes({ workspaceTypes: (key) => [type(Number(key.slice("root:t".length)))] });
    expect(deep.aliases(type(0)).length).to.equal(20_001);
  });

  it("have the initializers and terminators of all their types, named by logical cluster", () => {
    const defaultAPIBindings = [{ path: "root", export: "x" }];
    const found = types({
      "root:base": { initializer: true, terminator: true, defaultAPIBindings },
      "root:none": {},
      "root:org:leaf": { initializer: true, extends: ["root:base", "root:none"] },
    });
    const aliases = found.aliases(found.get("root:org:leaf"));
    expect(initializersOf(aliases)).to.deep.equal(["root:base", "c-org:leaf", "system:apibindings"]);
    expect(terminatorsOf(aliases)).to.deep.equal(["root:base"]);
    expect(initializersOf(found.aliases(found.get("root:none")))).to.deep.equal([]);
  });
});

describe("Limits of workspace types", () => {
  const list = (...keys: string[]) => ({ types: keys.map(reference) });
  const problems = (specs: Parameters<typeof types>[0], parent = "root:p", child = "root:c"): string => {
    const found = types({ "root:p": {}, "root:c": {}, ...specs });
    const resolved = (name: string) => ({ name, aliases: found.aliases(found.get(name)) });
    return together(limitProblems(resolved(parent), resolved(child)));
  };

  it("do not exist by default", () => {
    expect(problems({})).to.equal("[]");
    expect(problems({ "root:c": { limitAllowedParents: { none: false } } })).to.equal("[]");
  });

  it("report allowed and actual types, in order", () => {
    expect(problems({ "root:c": { limitAllowedParents: list("root:z", "root:b") } })).to.equal(
      "workspace type root:c only allows [root:b root:z] parent workspaces, but parent type root:p only implements [root:p]",
    );
    expect(problems({ "root:p": { limitAllowedChildren: list("root:z") } })).to.equal(
      "workspace type root:p only allows [root:z] child workspaces, but child type root:c only implements [root:c]",
    );
    expect(problems({ "root:c": { limitAllowedParents: { none: true } } })).to.equal(
      "workspace type root:c cannot have any parent",
    );
    expect(problems({ "root:p": { limitAllowedChildren: { none: true } } })).to.equal(
      "workspace type root:p cannot have any child",
    );
  });

  it("apply to types that extend the limited one, and accept types that extend an allowed one", () => {
    const base = { "root:base": { limitAllowedParents: list("root:q") }, "root:c": { extends: ["root:base"] } };
    expect(problems(base)).to.equal(
      "workspace type root:c extends root:base, which only allows [root:q] parent workspaces, but parent type root:p only implements [root:p]",
    );
    expect(problems({ ...base, "root:q": {}, "root:p": { extends: ["root:q"] } })).to.equal("[]");
  });

  it("are reported together, those on parents before those on children", () => {
    const limited = { limitAllowedParents: list("root:q") };
    expect(
      problems({
        "root:base": limited,
        "root:c": { ...limited, extends: ["root:base"] },
        "root:p": { limitAllowedChildren: { none: true } },
      }),
    ).to.equal(
      "[workspace type root:c extends root:base, which only allows [root:q] parent workspaces, but parent type root:p only implements [root:p], " +
        "workspace type root:c only allows [root:q] parent workspaces, but parent type root:p only implements [root:p]]",
    );
  });
});
