// LogicalClusters and Shards on a server.
import { LogicalCluster, Shard } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { causes, startKcp } from "./support/served.ts";

describe("LogicalClusters", () => {
  it("must be named cluster, and have a spec and a phase", async () => {
    await using server = await startKcp(LogicalCluster);
    expect(causes(await server.make({}, "other"))).to.deep.equal([
      'metadata.name: Unsupported value: "other": supported values: "cluster"',
    ]);
    const { body } = await server.make({}, "cluster");
    expect([body.spec, body.status]).to.deep.equal([{ directlyDeletable: false }, { phase: "Scheduling" }]);
  });

  it("are rejected with a message for each invalid field", async () => {
    await using server = await startKcp(LogicalCluster);
    await server.make({}, "cluster");
    expect(
      await server.wrong("cluster", [
        ({ spec }) => Object.assign(spec, { owner: { apiVersion: "a/b/c", cluster: "" } }),
        ({ spec }) => Object.assign(spec, { initializers: ["team"] }),
        ({ spec }) => Object.assign(spec, { createdBy: { extra: { scopes: "all" } } }),
      ]),
    ).to.deep.equal([
      [
        "spec.owner.apiVersion: Invalid value: \"a/b/c\": spec.owner.apiVersion in body should match '^([^/]+/)?[^/]+$'",
        'spec.owner.cluster: Invalid value: "": spec.owner.cluster in body should be at least 1 chars long',
        "spec.owner.name: Required value",
        "spec.owner.resource: Required value",
        "spec.owner.uid: Required value",
      ],
      [
        "spec.initializers[0]: Invalid value: \"team\": spec.initializers[0] in body should match '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$'",
      ],
      [
        'spec.createdBy.extra.scopes: Invalid value: "string": spec.createdBy.extra.scopes in body must be of type array: "string"',
      ],
    ]);
  });

  it("have kcp's table", async () => {
    await using server = await startKcp(LogicalCluster);
    await server.make({}, "cluster");
    await server.edit(
      "cluster",
      ({ status }) => Object.assign(status, { URL: "https://a", phase: "Ready" }),
      "/status",
    );
    expect(await server.table()).to.deep.equal([
      ["Name", "Phase", "URL", "Age"],
      ["cluster", "Ready", "https://a"],
    ]);
  });
});

describe("Shards", () => {
  it("are rejected with a message for each invalid field", async () => {
    await using server = await startKcp(Shard);
    const wrong = async (spec: object) => causes(await server.make({ spec }));
    expect(await wrong({})).to.deep.equal(["spec.baseURL: Required value"]);
    expect(await wrong({ baseURL: "", externalURL: "here" })).to.deep.equal([
      'spec.baseURL: Invalid value: "": spec.baseURL in body should be at least 1 chars long',
      'spec.baseURL: Invalid value: "": spec.baseURL in body must be of type uri: ""',
      'spec.externalURL: Invalid value: "here": spec.externalURL in body must be of type uri: "here"',
    ]);
    expect(await wrong({ baseURL: "https://a:6443" })).to.deep.equal(["201"]);
    const capacity = { bad: "ten", count: 10, memory: "1.5Gi" };
    const found = await server.wrong("one", [(object) => Object.assign(object, { status: { capacity } })], "/status");
    expect(found).to.have.length(1);
    expect(found[0]).to.have.length(1);
    expect(found[0]?.[0]).to.match(/^status\.capacity\.bad: Invalid value: "ten": capacity\.bad in body should match/);
  });

  it("have kcp's table, even without fields", async () => {
    await using server = await startKcp(Shard);
    await server.make({});
    const spec = { baseURL: "https://a:1", externalURL: "https://b" };
    await server.make({ spec, metadata: { name: "two", labels: { region: "eu" } } });
    expect(await server.table()).to.deep.equal([
      ["Name", "Region", "URL", "External URL", "Age"],
      ["one", null, null, null],
      ["two", "eu", "https://a:1", "https://b"],
    ]);
  });
});
