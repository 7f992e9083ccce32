// The kind Mount on a server: valid objects, and the messages for invalid ones.
import { Mount, mountIdentityOf, mountTypeOf } from "@virtual-workspaces/kcp";
import { mountTypes } from "@virtual-workspaces/kcp/targets";
import { expect } from "chai";
import { causes, startKcp } from "./support/served.ts";

const SECRET = { apiVersion: "v1", kind: "Secret", namespace: "default", name: "there" };

describe("Mounts", () => {
  it("need certain fields for each type", async () => {
    await using server = await startKcp(Mount);
    const made = async (spec: object) => causes(await server.make({ spec }, `m${count++}`));
    let count = 0;
    expect(await made({})).to.deep.equal([
      "spec: Invalid value: ref is required for the type URL: name a Secret with a kubeconfig, or an object with status.URL",
    ]);
    for (const type of ["Workspace", "Redirect"])
      expect(await made({ type }), type).to.deep.equal([
        "spec: Invalid value: path is required for the types Workspace and Redirect: set the path of a workspace, such as root:org:team",
      ]);
    expect(await made({ type: "Cluster", ref: SECRET, path: "root:a" })).to.deep.equal([
      "spec: Invalid value: path is only for the types Workspace and Redirect: remove it",
    ]);
    expect(await made({ type: "Workspace", path: "root:a", ref: SECRET })).to.deep.equal([
      "spec: Invalid value: ref, secretRef, identity and filters are only for the type URL: remove them",
    ]);
    expect(await made({ ref: { ...SECRET, namespace: undefined } })).to.deep.equal([
      "spec.ref: Invalid value: namespace is required for a Secret",
    ]);
    const other = { apiVersion: "example.dev/v1", kind: "Remote", name: "there" };
    for (const type of ["Impersonate", "RequestHeader", "Fixed"])
      expect(await made({ ref: other, identity: { type } }), type).to.deep.equal([
        "spec: Invalid value: secretRef is required for this type of identity: name the Secret with the credential",
      ]);
    expect(await made({ ref: SECRET, filters: [{ verbs: ["get"] }] })).to.deep.equal([
      "spec.filters[0]: Invalid value: resources or paths is required: a rule without them allows nothing",
    ]);
    expect(await made({ type: "Workspace", path: "root:*" })).to.satisfy(
      ([cause]: string[]) => cause?.startsWith("spec.path: Invalid value:") === true,
    );
    for (const spec of [{ ref: SECRET }, { ref: other, identity: { type: "None" } }, { type: "Other" }])
      expect(await made(spec), JSON.stringify(spec)).to.deep.equal(["201"]);
  });

  it("have an immutable target", async () => {
    await using server = await startKcp(Mount);
    await server.make({ spec: { ref: SECRET } });
    const put = async (spec: object) => causes(await server.edit("one", (mount) => Object.assign(mount, { spec })));
    expect(await put({ type: "URL", ref: { ...SECRET, name: "other" } })).to.deep.equal([
      "spec.ref: Invalid value: ref is immutable: create another Mount",
    ]);
    expect(await put({ type: "Cluster", ref: SECRET })).to.deep.equal([
      'spec.type: Invalid value: "Cluster": type is immutable: create another Mount',
    ]);
    expect(await put({ type: "URL", ref: SECRET, filters: [{ verbs: ["get"], paths: ["*"] }] })).to.deep.equal(["200"]);
  });

  it("treat the type Cluster as URL, and impersonate the caller if they name a Secret", () => {
    const of = (spec: Mount["spec"]) => [mountTypeOf({ spec }), mountIdentityOf({ spec })];
    const ref = { apiVersion: "example.dev/v1", kind: "Remote", name: "there" };
    expect(of({ type: "Cluster", ref })).to.deep.equal(["URL", "None"]);
    expect(of({ type: "URL", ref: SECRET })).to.deep.equal(["URL", "Impersonate"]);
    expect(of({ ref, secretRef: { namespace: "a", name: "b" } })).to.deep.equal(["URL", "Impersonate"]);
    expect(of({ ref: SECRET, identity: { type: "Fixed" } })).to.deep.equal(["URL", "Fixed"]);
  });

  it("have types with unique names", () => {
    const type = { type: "URL", resolve: () => ({ kind: "redirect", path: "root" }) as const };
    expect([...mountTypes([type]).keys()]).to.deep.equal(["URL"]);
    expect(() => mountTypes([type, type])).to.throw("mount types: duplicate type URL: remove one");
  });
});
