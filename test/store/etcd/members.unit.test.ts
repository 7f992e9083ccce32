import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Members } from "../../../packages/store/src/etcd/members.ts";
import { txn } from "../../../packages/store/src/etcd/methods.ts";
import { settings } from "../../../packages/store/src/etcd/options.ts";
import { refused } from "../contract/subject.ts";

describe("a transaction that waits for a connection to etcd", () => {
  it("fails with Closed, certainly unsent, when the store closes", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const members = new Members(settings({ endpoints: [`http://127.0.0.1:${port}`] }));
    const asked = refused("Closed", () =>
      members.ask(txn, { compare: [], success: [], failure: [] }, { repeatable: false }),
    );
    const [socket] = await once(server, "connection");
    members[Symbol.dispose]();
    await asked;
    socket.destroy();
    server.close();
    await once(server, "close");
  });
});
