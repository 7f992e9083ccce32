// Workspaces on a server: defaults, immutable fields and rejections, with kcp's messages.
import { Workspace } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { causes, NOT_CHECKED, startKcp } from "./support/served.ts";

const SPEC = {
  type: { name: "team", path: "root" },
  URL: "https://kcp.example/clusters/abc",
  cluster: "abc",
  mount: { ref: { apiVersion: "v1", kind: "Cluster", name: "far" } },
};
const SEGMENT = "'^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'";
const HOLDER =
  "'^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$'";

describe("Workspaces", () => {
  it("need only a name: the server defaults spec and phase, and ignores a status on create", async () => {
    await using server = await startKcp(Workspace);
    const { body } = await server.make({ status: { phase: "Ready" } });
    expect([body.spec, body.status]).to.deep.equal([{}, { phase: "Scheduling" }]);
    expect(await server.read("one")).to.deep.equal(body);
  });

  it("must have names that fit into a path", async () => {
    await using server = await startKcp(Workspace);
    expect(causes(await server.make({}, "a.b"))).to.deep.equal([
      `metadata.name: Invalid value: "a.b": metadata.name in body should match ${SEGMENT}`,
    ]);
    expect(causes(await server.make({}, "a".repeat(64)))).to.deep.equal([
      "metadata.name: Too long: may not be more than 63 bytes",
      NOT_CHECKED,
    ]);
    expect(causes(await server.make({}, "a".repeat(63)))).to.deep.equal(["201"]);
  });

  it("have an immutable type, cluster, URL and mount", async () => {
    await using server = await startKcp(Workspace);
    await server.make({ spec: SPEC });
    const unset = ["spec: Invalid value: URL cannot be unset", "spec: Invalid value: cluster cannot be unset"];
    expect(
      await server.wrong("one", [
        ({ spec }) => Object.assign(spec.type, { name: "other" }),
        ({ spec }) => Object.assign(spec.type, { path: "root:org" }),
        ({ spec }) => Object.assign(spec, { type: { name: "team" } }),
        ({ spec }) => Object.assign(spec, { cluster: "def" }),
        ({ spec }) => Object.assign(spec, { URL: undefined, cluster: undefined }),
        (object) => Object.assign(object, { spec: undefined }),
        ({ spec }) => Object.assign(spec.mount.ref, { kind: "Other" }),
      ]),
    ).to.deep.equal([
      ["spec.type: Invalid value: name is immutable"],
      ["spec.type: Invalid value: path is immutable"],
      ["spec.type: Invalid value: path is immutable"],
      ['spec.cluster: Invalid value: "def": cluster is immutable'],
      unset,
      unset,
      ["spec.mount: Invalid value: mount is immutable"],
    ]);
    expect((await server.read("one")).spec).to.deep.equal(SPEC);
  });

  it("allow another URL, and removing type and mount, which kcp's rules do not cover", async () => {
    await using server = await startKcp(Workspace);
    await server.make({ spec: SPEC });
    expect(
      await server.wrong("one", [
        ({ spec }) => Object.assign(spec, { URL: "https://other.example" }),
        ({ spec }) => Object.assign(spec, { mount: undefined }),
        ({ spec }) => Object.assign(spec, { type: undefined }),
      ]),
    ).to.deep.equal([["200"], ["200"], ["200"]]);
  });

  it("are rejected with a message for each invalid field of the spec", async () => {
    await using server = await startKcp(Workspace);
    const location = { selector: { matchExpressions: [{ key: "region" }] } };
    expect(causes(await server.make({ spec: { type: { path: "Root" }, location, mount: {} } }))).to.deep.equal([
      "spec.type.path: Invalid value: \"Root\": spec.type.path in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'",
      "spec.type.name: Required value",
      "spec.location.selector.matchExpressions[0].operator: Required value",
      "spec.mount.ref: Required value",
      NOT_CHECKED,
    ]);
  });

  it("are rejected with a message for each invalid field of the status, which lists controllers by the path of their type", async () => {
    await using server = await startKcp(Workspace);
    await server.make({});
    const initializers = ["team", "root:org:team", "system:apibindings", "root:x"];
    expect(
      await server.wrong(
        "one",
        [
          ({ status }) => Object.assign(status, { initializers, phase: "Done", conditions: [{ type: "Ready" }] }),
          ({ status }) => Object.assign(status, { terminators: ["root:org:team", "system:x"] }),
        ],
        "/status",
      ),
    ).to.deep.equal([
      [
        'status.phase: Unsupported value: "Done": supported values: "Scheduling", "Initializing", "Ready", "Unavailable", "Inactive", "Terminating", "Deleting"',
        `status.initializers[0]: Invalid value: "team": initializers[0] in body should match ${HOLDER}`,
        `status.initializers[3]: Invalid value: "root:x": initializers[3] in body should match ${HOLDER}`,
        "status.conditions[0].lastTransitionTime: Required value",
        "status.conditions[0].status: Required value",
        NOT_CHECKED,
      ],
      ["200"],
    ]);
  });

  it("have kcp's table", async () => {
    await using server = await startKcp(Workspace);
    await server.make({});
    await server.make({ spec: SPEC, metadata: { name: "two", labels: { region: "eu" } } });
    expect(await server.table()).to.deep.equal([
      ["Name", "Type", "Region", "Phase", "URL", "Age"],
      ["one", null, null, "Scheduling", null],
      ["two", "team", "eu", "Scheduling", SPEC.URL],
    ]);
  });
});
