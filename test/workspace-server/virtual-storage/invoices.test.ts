// The example of a view that stores a resource of an export: workspaces that bind it use it like any other.
import { memoryStore } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import invoices, { manifests } from "../../../examples/over-workspaces/invoices.ts";
import { MERGE } from "../../_support/patches.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { ClusterClient } from "../support/objects.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const BILLING = "/apis/billing.example.dev/v1";
const APIS = "/apis/apis.kcp.io/v1alpha2";
const root = { user: "root" };
const invoice = (name: string, ...cents: number[]): object => ({
  apiVersion: "billing.example.dev/v1",
  kind: "Invoice",
  metadata: { name },
  spec: { lines: cents.map((each) => ({ cents: each })) },
});

describe("examples/over-workspaces/invoices.ts", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let shop: string;

  before(async () => {
    const own = loopback();
    server = await startWorkspaces(memoryStore(), {
      loopback: own,
      virtualWorkspaces: [invoices({ upstream: own.upstream, identity: own.identity, store: memoryStore() })],
    });
    const provider = new ClusterClient(server);
    for (const object of manifests) {
      const plural = `${object.kind.toLowerCase()}s`;
      const group = object.apiVersion;
      await provider.create(`/apis/${group}/${plural}`, object);
    }
    await provider.until(`${BILLING}/ledgers`, ({ status }) => status === 200);
    await provider.create(`${BILLING}/ledgers`, {
      apiVersion: "billing.example.dev/v1",
      kind: "Ledger",
      metadata: { name: "main" },
    });
    await provider.until(`${BILLING}/ledgers/main`, ({ body }) => body.status?.endpoints?.length === 1);
    shop = await makeWorkspace(server, "shop");
    await new ClusterClient(server, shop).create(`${APIS}/apibindings`, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: "billing" },
      spec: { reference: { export: { path: "root", name: "billing" } } },
    });
    await new ClusterClient(server, shop).until(
      `${APIS}/apibindings/billing`,
      ({ body }) => body.status?.phase === "Bound",
    );
  });

  after(() => server[Symbol.asyncDispose]());

  it("serves reads, writes and watches in the workspace, without objects in its store", async () => {
    const path = `/clusters/${shop}${BILLING}/invoices` as const;
    await using watch = await server.watch(`${path}?watch=true`, root);
    const made = await server.send(`POST ${path}`, invoice("a", 100, 20), root);
    expect([made.status, made.body.status]).to.deep.equal([201, { cents: 120 }], made.text);
    const { status } = await server.send(`PATCH ${path}/a`, { spec: { lines: [{ cents: 5 }] } }, { ...MERGE, ...root });
    expect(status).to.equal(200);
    expect((await server.get(`${path}/a`, root)).body.status).to.deep.equal({ cents: 5 });
    expect(await watch.take(2)).to.deep.equal(["ADDED a", "MODIFIED a"]);
  });

  it("is limited to users whom the workspace allows, also at the view's own address", async () => {
    const view = `/services/invoices/main/clusters/${shop}${BILLING}/invoices` as const;
    expect((await server.get(view, root)).body.items).to.have.length(1);
    expect((await server.get(view, { user: "bob" })).status).to.equal(403);
    expect((await server.get(`/clusters/${shop}${BILLING}/invoices`, { user: "bob" })).status).to.equal(403);
    const other = await makeWorkspace(server, "other");
    expect((await server.get(`/clusters/${other}${BILLING}/invoices`, root)).status).to.equal(404);
    const elsewhere = view.replace(shop, other) as `/${string}`;
    expect((await server.get(elsewhere, root)).body.items).to.deep.equal([]);
  });
});
