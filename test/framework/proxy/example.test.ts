// The example of an engine over `http-proxy`, in front of a server that returns its caller.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { archiveView } from "../../../examples/proxying/http-proxy.ts";
import { startPlain } from "../../_support/plain.ts";

describe("examples/proxying/http-proxy.ts", () => {
  before(() => {
    process.noDeprecation = true; // as in the matrix
  });
  after(() => {
    process.noDeprecation = false;
  });

  it("impersonates the caller, whatever identity the caller claims, and closes with its server", async () => {
    const other = createServer(({ url, headers }, res) => {
      res.end(`${url} ${headers["x-remote-user"]} ${headers["x-remote-group"]}`);
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    {
      await using server = await startPlain([archiveView({ url: `http://127.0.0.1:${port}/base` })]);
      const claims = { "x-remote-user": "root", "x-remote-group": "system:masters" };
      const { text } = await server.get("/services/archive/x?y=1", { user: "admin", headers: claims });
      expect(text).to.equal("/base/x?y=1 admin admins, system:authenticated");
    }
    // The closed engine keeps nothing open.
    other.close();
    await once(other, "close");
  });
});
