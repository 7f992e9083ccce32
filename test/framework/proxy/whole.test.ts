// A response that is complete with its head: Node loses data written between a cork and an end.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { type ProxyEngine, proxy } from "@virtual-workspaces/framework/proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { startPlain } from "../../_support/plain.ts";

describe("a complete response", () => {
  for (const tells of [true, false])
    it(`is forwarded whole, ${tells ? "and its engine says that it is" : "though its engine does not say so"}`, async () => {
      const text = JSON.stringify({ kind: "APIGroupList", groups: [] });
      await using there = createServer((_, res) =>
        res.writeHead(200, { "content-type": "application/json" }).end(text),
      ).listen(0, "127.0.0.1");
      await once(there, "listening");
      await using upstream = new Upstream({ url: `http://127.0.0.1:${(there.address() as AddressInfo).port}` });
      const engine: ProxyEngine = {
        url: upstream.url,
        upgrade: (request) => upstream.upgrade(request),
        stream: async (request) => {
          const { whole, ...answer } = await upstream.stream(request);
          return tells && whole !== undefined ? { ...answer, whole } : answer;
        },
      };
      const { handle } = proxy({ upstream: engine });
      const view = defineVirtualWorkspace({
        name: "v",
        path: "/",
        authorize: () => allow(),
        handleWhen: () => true,
        handle,
      });
      await using server = await startPlain([view]);
      for (let times = 0; times < 3; times++) expect((await server.get("/services/v/apis")).text).to.equal(text);
    });
});
