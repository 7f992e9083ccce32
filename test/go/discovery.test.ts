// Documents that client-go reads about an API, in every form.
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { building } from "./support/build.ts";
import { Stage } from "./support/stage.ts";
import { Quote } from "./support/views.ts";

const spec = { type: "object", properties: { size: { type: "integer" } } } as const;
const kinds = [
  Quote,
  defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Policy",
    scope: "Namespaced",
    spec,
    shortNames: ["pol"],
  }),
  defineResource({ group: "example.dev", version: "v1alpha1", kind: "Draft", scope: "Namespaced", spec }),
  defineResource({
    group: "other.dev",
    version: "v2",
    kind: "Box",
    plural: "boxes",
    scope: "Cluster",
    spec,
    categories: ["all"],
  }),
  defineResource({
    group: "",
    version: "v1",
    kind: "ConfigMap",
    scope: "Namespaced",
    shortNames: ["cm"],
    schema: {
      type: "object",
      properties: { data: { type: "object", additionalProperties: { type: "string" } } },
    },
  }),
];

/** Verbs of a collection. */
const VERBS = "create delete deletecollection get list patch update watch";

describe("discovery", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("is the same in every form, and every schema resolves", async () => {
    await using stage = await Stage.start({
      view: () =>
        defineVirtualWorkspace({
          name: "quotes",
          path: "/clusters/:cluster",
          authorize: authenticated(),
          resources: kinds.map((kind) => kind.serve(kind.collection() as never)),
        }),
    });
    await using client = stage.client("discovery");
    await client.event("done");
    const [aggregated, legacy] = client.all("discovered");
    expect([aggregated?.["mode"], legacy?.["mode"]]).to.deep.equal(["aggregated", "legacy"]);
    expect(aggregated?.["resources"]).to.have.length(5);
    expect(aggregated?.["resources"]).to.deep.equal(legacy?.["resources"]);
    expect(aggregated?.["versions"]).to.deep.equal(legacy?.["versions"]);
    expect(aggregated?.["versions"]).to.deep.equal(["v1", "example.dev/v1", "example.dev/v1alpha1", "other.dev/v2"]);
    expect(aggregated?.["resources"]).to.include(
      `example.dev/v1/policies Policy policy namespaced=true verbs=[${VERBS}] short=[pol] categories=[]`,
    );

    const mapped = (await client.event("mapped"))["kinds"];
    expect(mapped).to.have.members([
      "ConfigMap=configmaps by configmaps,configmap,cm",
      "Quote=quotes by quotes,quote,qt",
      "Policy=policies by policies,policy,pol",
      "Draft=drafts by drafts,draft",
      "Box=boxes by boxes,box",
    ]);
    expect((await client.event("preferred"))["resources"]).to.have.length(5);
    expect(client.all("openapi-v3").map(({ version, unresolved }) => [version, unresolved])).to.have.deep.members([
      ["v1", []],
      ["example.dev/v1", []],
      ["example.dev/v1alpha1", []],
      ["other.dev/v2", []],
    ]);
    expect((await client.event("openapi-v2"))["definitions"]).to.be.above(5);
    expect((await client.event("version"))["major"]).to.equal("1");
    expect(client.all("request").every(({ code }) => code === 200)).to.equal(true);
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });

  it("of an empty view is empty, not an error", async () => {
    await using stage = await Stage.start({
      view: () =>
        defineVirtualWorkspace({
          name: "quotes",
          path: "/clusters/:cluster",
          authorize: authenticated(),
          resources: [],
        }),
    });
    await using client = stage.client("discovery");
    await client.event("done");
    expect(client.all("discovered").map(({ resources }) => resources)).to.deep.equal([[], []]);
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });
});
