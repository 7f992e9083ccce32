// `lazySchema`: the first written object compiles the schema of the kind.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { startPlain } from "../_support/plain.ts";

const PODS = "/services/pods/clusters/root/apis/example.dev/v1/pods";
const pod = (name: string, spec: object): object => ({
  apiVersion: "example.dev/v1",
  kind: "Pod",
  metadata: { name },
  spec,
});

/** A kind whose image names must match a pattern. */
const kind = (pattern: string, lazySchema?: boolean) =>
  defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Pod",
    scope: "Cluster",
    spec: { type: "object", properties: { image: { type: "string", pattern }, size: { type: "integer", default: 1 } } },
    lazySchema,
  });

const start = (pattern: string) => {
  const Pod = kind(pattern, true);
  const view = defineVirtualWorkspace({
    name: "pods",
    path: "/clusters/:cluster",
    authorize: allow,
    resources: [Pod.serve(Pod.collection())],
  });
  return startPlain([view]);
};

describe("a lazily compiled schema", () => {
  it("validates the first object like all others", async () => {
    await using server = await start("^[a-z]+$");
    const wrong = await server.send(`POST ${PODS}`, pod("one", { image: "A" }));
    expect([wrong.status, wrong.body.details.causes[0].field]).to.deep.equal([422, "spec.image"]);
    const right = await server.send(`POST ${PODS}`, pod("one", { image: "a", other: 1 }));
    expect([right.status, right.body.spec]).to.deep.equal([201, { image: "a", size: 1 }]);
  });

  it("fails each write when Kubernetes would reject the schema, and stores nothing", async () => {
    await using server = await start("(");
    for (const name of ["one", "two"]) {
      expect((await server.send(`POST ${PODS}`, pod(name, {}))).status).to.equal(500);
      expectFault(/request failed.*the schema of Pod \(example\.dev\/v1\) is not valid in Kubernetes/);
    }
    expect((await server.get(PODS)).body.items).to.deep.equal([]);
  });

  it("is rejected at definition when lazySchema is off", () => {
    const Pod = kind("(");
    expect(() => Pod.serve(Pod.collection())).to.throw("is not valid in Kubernetes");
  });

  it("defines an equal kind", () => {
    expect(kind("a", true).hash).to.equal(kind("a").hash);
    expect(kind("a", true).hash).not.to.equal(kind("b", true).hash);
  });
});
