// APIExports and APIBindings on a real server, in both versions: one set of objects, stored in v1alpha2.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIBindingV1alpha1,
  APIConversion,
  APIExport,
  APIExportEndpointSlice,
  APIExportV1alpha1,
  APIResourceSchema,
} from "@virtual-workspaces/kcp";
import { olderApiBindings, olderApiExports } from "@virtual-workspaces/kcp/apis";
import { expect } from "chai";
import { APPLY, MERGE } from "../_support/patches.ts";
import { type Answer, label, type PlainServer, startPlain } from "../_support/plain.ts";
import { Random } from "../_support/random.ts";
import { randomBinding, randomExport } from "./apis-random.ts";

const ROOT = "/services/apis/clusters/root/apis/apis.kcp.io";
const V1 = `${ROOT}/v1alpha1`;
const V2 = `${ROOT}/v1alpha2`;

async function serve(): Promise<PlainServer> {
  const [exports, bindings] = [APIExport.collection(), APIBinding.collection()];
  return startPlain(
    [
      defineVirtualWorkspace({
        name: "apis",
        path: "/clusters/:cluster",
        authorize: () => allow(),
        resources: [
          APIExport.serve(exports),
          APIExportV1alpha1.serve(olderApiExports(exports)),
          APIBinding.serve(bindings),
          APIBindingV1alpha1.serve(olderApiBindings(bindings)),
          APIResourceSchema.serve(APIResourceSchema.collection()),
          APIExportEndpointSlice.serve(APIExportEndpointSlice.collection()),
          APIConversion.serve(APIConversion.collection()),
        ],
      }),
    ],
    { bookmarkEvery: 5 },
  );
}

const object = (kind: string, version: string, spec: object): object => ({
  apiVersion: `apis.kcp.io/${version}`,
  kind,
  metadata: { name: "a" },
  spec,
});
const binding = (version: string, permissionClaims: readonly object[]): object =>
  object("APIBinding", version, { reference: { export: { path: "root:org", name: "x" } }, permissionClaims });
const apply = (server: PlainServer, path: `/${string}`, config: object): Promise<Answer> =>
  server.send(
    `PATCH ${path}/a?fieldManager=${path === `${V1}/apibindings` ? "old" : "new"}`,
    JSON.stringify(config),
    APPLY,
  );

const READ_CONFIGMAPS = {
  resource: "configmaps",
  verbs: ["get"],
  selector: { matchLabels: { a: "b" } },
  state: "Accepted",
};
const ACCEPTABLE = "apis.v1alpha2.kcp.io/acceptable-permission-claims";

describe("served kinds of apis.kcp.io", () => {
  it("can be written in v1alpha1 and read in v1alpha2, and vice versa", async () => {
    await using server = await serve();
    const older = object("APIExport", "v1alpha1", {
      latestResourceSchemas: ["v1.widgets.example.dev"],
      permissionClaims: [{ resource: "secrets", resourceSelector: [{ name: "s" }] }],
    });
    const created = await server.send(`POST ${V1}/apiexports`, older);
    expect(created.status).to.equal(201);
    const { body: newer } = await server.get(`${V2}/apiexports/a`);
    expect(newer.spec).to.deep.equal({
      resources: [{ group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev", storage: { crd: {} } }],
      permissionClaims: [{ group: "", resource: "secrets", identityHash: "", verbs: ["*"] }],
    });
    expect(newer.metadata.uid).to.equal(created.body.metadata.uid);
    const claim = { group: "", identityHash: "", resource: "configmaps", verbs: ["get", "list"] };
    const claims = [...newer.spec.permissionClaims, claim];
    const changed = await server.send(`PUT ${V2}/apiexports/a`, {
      ...newer,
      spec: { ...newer.spec, permissionClaims: claims },
    });
    expect(changed.status).to.equal(200);
    const { body: again } = await server.get(`${V1}/apiexports/a`);
    expect(again.spec).to.deep.equal({
      latestResourceSchemas: ["v1.widgets.example.dev"],
      permissionClaims: [
        { group: "", resource: "secrets", resourceSelector: [{ name: "s" }] },
        { group: "", resource: "configmaps" },
      ],
    });
    const back = await server.send(`PUT ${V1}/apiexports/a`, {
      ...again,
      metadata: { ...again.metadata, labels: { l: "x" } },
    });
    expect(back.status, back.text).to.equal(200);
    expect((await server.get(`${V2}/apiexports/a`)).body.spec).to.deep.equal(changed.body.spec);
    const none = await server.send(`POST ${V1}/apiexports`, { ...older, metadata: { name: "b" }, spec: undefined });
    expect([none.status, none.body.spec]).to.deep.equal([201, undefined]);
  });

  it("keep settings of v1alpha2 when they are patched and applied in v1alpha1", async () => {
    await using server = await serve();
    const made = await apply(server, `${V2}/apibindings`, binding("v1alpha2", [READ_CONFIGMAPS]));
    expect(made.status, made.text).to.equal(201);
    const labelled = await server.send(`PATCH ${V1}/apibindings/a`, { metadata: { labels: { l: "x" } } }, MERGE);
    expect(labelled.status, labelled.text).to.equal(200);
    expect(labelled.body.spec.permissionClaims).to.deep.equal([{ resource: "configmaps", state: "Accepted" }]);
    expect(labelled.body.metadata.annotations[ACCEPTABLE]).to.equal(
      '[{"resource":"configmaps","verbs":["get"],"selector":{"matchLabels":{"a":"b"}},"state":"Accepted"}]',
    );
    const rejected = [{ resource: "configmaps", state: "Rejected", all: true }];
    const patched = await server.send(`PATCH ${V1}/apibindings/a`, { spec: { permissionClaims: rejected } }, MERGE);
    expect(patched.status, patched.text).to.equal(200);
    expect(patched.body.spec.permissionClaims).to.deep.equal(rejected);
    const { body: newer } = await server.get(`${V2}/apibindings/a`);
    const kept = { ...READ_CONFIGMAPS, group: "", identityHash: "", state: "Rejected" };
    expect(newer.spec.permissionClaims).to.deep.equal([kept]);
    const owner = await apply(
      server,
      `${V1}/apibindings`,
      binding("v1alpha1", [{ ...rejected[0], state: "Accepted" }]),
    );
    expect([owner.status, owner.body.reason]).to.deep.equal([409, "Conflict"]);
    const path = `PATCH ${V1}/apibindings/a?fieldManager=old&force=true`;
    const forced = await server.send(path, JSON.stringify(binding("v1alpha1", rejected)), APPLY);
    expect(forced.status, forced.text).to.equal(200);
    expect((await server.get(`${V2}/apibindings/a`)).body.spec.permissionClaims).to.deep.equal([kept]);
    const status = await server.send(`PATCH ${V1}/apibindings/a/status`, { status: { phase: "Bound" } }, MERGE);
    expect([status.status, status.body.status]).to.deep.equal([200, { phase: "Bound" }]);
    expect((await server.get(`${V2}/apibindings/a`)).body).to.deep.include({ status: { phase: "Bound" } });
  });

  it("stay unchanged when a client sends back in v1alpha1 what it has read", async () => {
    await using server = await serve();
    const random = new Random(11);
    for (let round = 0; round < 40; round += 1) {
      for (const [plural, made] of [
        ["apiexports", randomExport(random)],
        ["apibindings", randomBinding(random)],
      ] as const) {
        const metadata = { name: `a${round}`, annotations: { own: "x" } };
        const created = await server.send(`POST ${V2}/${plural}`, { ...made, metadata });
        expect(created.status, created.text).to.equal(201);
        const { body: older } = await server.get(`${V1}/${plural}/a${round}`);
        const sent = await server.send(`PUT ${V1}/${plural}/a${round}`, older);
        expect(sent.status, sent.text).to.equal(200);
        expect(sent.body).to.deep.equal(older);
        const { body: newer } = await server.get(`${V2}/${plural}/a${round}`);
        expect(newer).to.deep.equal(created.body);
      }
    }
  });

  it("can be watched in both versions, with one history", async () => {
    await using server = await serve();
    await using newer = await server.watch(`${V2}/apibindings?watch=true`);
    await using older = await server.watch(`${V1}/apibindings?watch=true`);
    await server.send(
      `POST ${V1}/apibindings`,
      binding("v1alpha1", [{ resource: "secrets", all: true, state: "Accepted" }]),
    );
    await server.send(`POST ${V2}/apibindings`, { ...binding("v1alpha2", [READ_CONFIGMAPS]), metadata: { name: "b" } });
    await server.send(`DELETE ${V1}/apibindings/b`);
    for (const expected of ["ADDED a", "ADDED b", "DELETED b"]) {
      const [one, other] = [await newer.next(), await older.next()];
      expect([label(one), label(other)]).to.deep.equal([expected, expected]);
      const [claim] = (one.object["spec"] as { permissionClaims: object[] }).permissionClaims;
      const [same] = (other.object["spec"] as { permissionClaims: object[] }).permissionClaims;
      expect(claim).to.have.property("verbs");
      expect(same).to.not.have.property("verbs");
      expect(one.object.metadata.resourceVersion).to.equal(other.object.metadata.resourceVersion);
    }
  });

  it("keep the selector of a claim on another export's resource when the v1alpha1 annotation is missing or malformed", async () => {
    await using server = await serve();
    const claim = { ...READ_CONFIGMAPS, group: "wild.west", resource: "sheriffs", identityHash: "f00" };
    await server.send(`POST ${V2}/apibindings`, binding("v1alpha2", [claim]));
    const { body: older } = await server.get(`${V1}/apibindings/a`);
    const without = { ...older, metadata: { ...older.metadata, annotations: {} } };
    const widened = await server.send(`PUT ${V1}/apibindings/a`, without);
    expect(widened.status).to.equal(422);
    expect(widened.body.message).to.contain("Permission claim selector is immutable");
    const garbled = { ...older, metadata: { ...older.metadata, annotations: { [ACCEPTABLE]: "[" } } };
    const refused = await server.send(`PUT ${V1}/apibindings/a`, garbled);
    expect(refused.status).to.equal(422);
    expect(refused.body.message).to.contain(`metadata.annotations[${ACCEPTABLE}]`);
  });

  it("allow changes of the selector of a claim without a group or an identity, like kcp", async () => {
    await using server = await serve();
    const path = `${V2}/apibindings`;
    const changed = async (claim: object): Promise<number> => {
      await server.send(`DELETE ${path}/a`);
      const { body: made } = await server.send(`POST ${path}`, binding("v1alpha2", [claim]));
      const [kept] = made.spec.permissionClaims;
      const claims = [{ ...kept, selector: { matchLabels: { a: "c" } } }];
      return (await server.send(`PUT ${path}/a`, { ...made, spec: { ...made.spec, permissionClaims: claims } })).status;
    };
    expect(await changed(READ_CONFIGMAPS)).to.equal(200);
    expect(await changed({ ...READ_CONFIGMAPS, identityHash: "f00" })).to.equal(200);
    expect(await changed({ ...READ_CONFIGMAPS, group: "wild.west" })).to.equal(200);
    expect(await changed({ ...READ_CONFIGMAPS, group: "wild.west", identityHash: "f00" })).to.equal(422);
  });

  it("are rejected by kcp's rules, in their version", async () => {
    await using server = await serve();
    const said = async (path: `/${string}`, body: object): Promise<string> => {
      const { status, body: answer } = await server.send(`POST ${path}`, body);
      return `${status} ${answer.message}`;
    };
    const claims = [{ resource: "configmaps", state: "Accepted" }];
    expect(await said(`${V1}/apibindings`, binding("v1alpha1", claims))).to.match(
      /^422 .*either "all" or "resourceSelector" must be set$/,
    );
    const { verbs: _verbs, ...verbless } = READ_CONFIGMAPS;
    expect(await said(`${V2}/apibindings`, binding("v1alpha2", [verbless]))).to.match(/^422 .*verbs: Required value/);
    const two = { crd: {}, virtual: { identityHash: "h", reference: { kind: "S", name: "s" } } };
    const resources = [{ group: "a.dev", name: "b", schema: "v1.b.a.dev", storage: two }];
    expect(await said(`${V2}/apiexports`, object("APIExport", "v1alpha2", { resources }))).to.match(
      /^422 .*Exactly one of crd or virtual must be set/,
    );
    expect(
      await said(`${V1}/apiexports`, object("APIExport", "v1alpha1", { latestResourceSchemas: ["widgets"] })),
    ).to.match(/^422 .*spec.latestResourceSchemas\[0\]: Invalid value: "widgets"/);
    const version = { schema: { type: "object", anything: [1] }, storage: false };
    const schema = {
      group: "a.dev",
      names: { kind: "B", plural: "bs" },
      scope: "Cluster",
      versions: [{ ...version, name: "v1" }],
    };
    const path = `${V1}/apiresourceschemas`;
    const accepted = await server.send(`POST ${path}`, object("APIResourceSchema", "v1alpha1", schema));
    expect(accepted.status, accepted.text).to.equal(201);
    expect(accepted.body.spec).to.deep.equal({
      ...schema,
      nameValidation: "DNS1123Subdomain",
      versions: [{ ...version, name: "v1", served: true }],
    });
    const several = {
      ...schema,
      versions: [
        { ...version, name: "v1" },
        { ...version, name: "v2" },
      ],
    };
    expect(await said(path, object("APIResourceSchema", "v1alpha1", several))).to.match(
      /^422 .*Conversion must be specified when multiple versions exist$/,
    );
    const shards = { matchAll: true, selector: { matchLabels: {} } };
    const slice = object("APIExportEndpointSlice", "v1alpha1", { export: { name: "x", path: "root:a" } });
    expect((await server.send(`POST ${V1}/apiexportendpointslices`, slice)).status).to.equal(201);
    const bad = { status: { endpoints: [{ url: "https://x", shards }] } };
    const patched = await server.send(`PATCH ${V1}/apiexportendpointslices/a/status`, bad, MERGE);
    expect(patched.body.message).to.contain("matchAll and selector are mutually exclusive");
    const moved = await server.send(
      `PATCH ${V1}/apiexportendpointslices/a`,
      { spec: { export: { name: "y" } } },
      MERGE,
    );
    expect(moved.body.message).to.contain("APIExport reference must not be changed");
    const rule = { from: "v1", to: "v2", rules: [{ field: ".a", destination: ".b" }] };
    const conversion = object("APIConversion", "v1alpha1", { conversions: [rule, rule] });
    expect(await said(`${V1}/apiconversions`, conversion)).to.match(/^422 .*Duplicate value/);
  });
});
