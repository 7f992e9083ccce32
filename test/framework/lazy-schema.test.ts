// `lazySchema`: a kind whose schema is compiled with the first object that is written.
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

/** A kind whose names of images are matched by a pattern. */
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

describe("a schema that is compiled with the first object", () => {
  it("holds for the first object as for the others", async () => {
    await using server = await start("^[a-z]+$");
    const wrong = await server.send(`POST ${PODS}`, pod("one", { image: "A" }));
    expect([wrong.status, wrong.body.details.causes[0].field]).to.deep.equal([422, "spec.image"]);
    const right = await server.send(`POST ${PODS}`, pod("one", { image: "a", other: 1 }));
    expect([right.status, right.body.spec]).to.deep.equal([201, { image: "a", size: 1 }]);
  });

  it("fails each write when Kubernetes would not take it, and keeps nothing", async () => {
    await using server = await start("(");
    for (const name of ["one", "two"]) {
      expect((await server.send(`POST ${PODS}`, pod(name, {}))).status).to.equal(500);
      expectFault(/request failed.*the schema of Pod \(example\.dev\/v1\) is none that Kubernetes takes/);
    }
    expect((await server.get(PODS)).body.items).to.deep.equal([]);
  });

  it("is refused at once otherwise", () => {
    const Pod = kind("(");
    expect(() => Pod.serve(Pod.collection())).to.throw("is none that Kubernetes takes");
  });

  it("is the same kind", () => {
    expect(kind("a", true).hash).to.equal(kind("a").hash);
    expect(kind("a", true).hash).not.to.equal(kind("b", true).hash);
  });
});
