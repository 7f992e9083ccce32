import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { renew } from "../../../packages/store/src/etcd/etcd-leases.ts";
import { Members } from "../../../packages/store/src/etcd/members.ts";
import { settings } from "../../../packages/store/src/etcd/options.ts";
import { refused } from "../contract/subject.ts";

describe("the renewal of a lease by an unresponsive etcd", () => {
  it("ends when the store closes, at any moment", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    for (const moment of ["asked", "opening", "opened"]) {
      const members = new Members(settings({ endpoints: [`http://127.0.0.1:${port}`] }));
      const stream = members.stream.bind(members);
      const streams = once(server, "stream");
      members.stream = async (method, member) => {
        const call = await stream(method, member);
        if (moment === "opening") members[Symbol.dispose]();
        return call;
      };
      const renewed = refused("Closed", () => renew(members, { id: "1", ttl: 1 }));
      if (moment === "opened") await streams;
      else streams.catch(() => undefined);
      if (moment !== "opening") members[Symbol.dispose]();
      await renewed;
      expect(members.closed.aborted).to.equal(true);
    }
    server.close();
    await once(server, "close");
  });
});
