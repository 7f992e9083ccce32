// examples/operator/inventory.ts at a server that sends a list without a version, as kcp does where no workspace has bound the
// export yet: it has an entry in the server's log, and the next read succeeds.
import type { IncomingMessage, ServerResponse } from "node:http";
import { sameCaller } from "@virtual-workspaces/forwarding";
import { startTestServer } from "@virtual-workspaces/testing";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import inventory from "../../../examples/operator/inventory.ts";
import { expectFault } from "../../_setup/faults.ts";
import { testLog } from "../../_setup/log.ts";
import { startListener } from "../../_support/listener.ts";
import { until } from "../../_support/until.ts";

const SLICE = {
  apiVersion: "apis.kcp.io/v1alpha1",
  kind: "APIExportEndpointSlice",
  metadata: { name: "inventory", resourceVersion: "1" },
  spec: { export: { path: "root", name: "inventory" } },
};
const LISTS = "/apis/inventory.example.dev/v1/items";

describe("examples/operator/inventory.ts", () => {
  it("logs a list that it cannot use, says that it tries again, and becomes ready", async () => {
    let lists = 0;
    const respond = (res: ServerResponse, code: number, body: object): void => {
      res.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    const kcp = await startListener((req: IncomingMessage, res: ServerResponse) => {
      const { pathname, searchParams } = new URL(req.url ?? "/", "http://kcp");
      if (searchParams.has("sendInitialEvents")) return respond(res, 400, {});
      if (searchParams.has("watch"))
        return void res.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
      if (!pathname.endsWith(LISTS)) {
        const status = { endpoints: [{ url: `${kcp.url}/services/apiexport/root/inventory` }] };
        const list = { ...SLICE, kind: "APIExportEndpointSliceList", metadata: { resourceVersion: "1" } };
        return respond(res, 200, { ...list, items: [{ ...SLICE, status }] });
      }
      lists += 1;
      const list = { apiVersion: "inventory.example.dev/v1", kind: "ItemList", items: [] };
      return respond(res, 200, lists === 1 ? list : { ...list, metadata: { resourceVersion: "2" } });
    });
    await using stack = new AsyncDisposableStack();
    stack.use(kcp);
    const { log, records } = testLog();
    const upstream = stack.use(new Upstream({ url: kcp.url }));
    const view = inventory({ upstream, identity: sameCaller, workspace: "root", connectionTo: (url) => ({ url }) });
    stack.use(await startTestServer([view], { log }));
    await until(() => lists > 1, { what: "another list" });
    expectFault(/cannot read the items, trying again/);
    const error = "UpstreamFault: items: the server sent a list without a resourceVersion instead of Item objects";
    expect(records.filter(({ level }) => level === "warn")).to.deep.include({
      level: "warn",
      message: "cannot read the items, trying again",
      error,
    });
  });
});
