// Headers from Go clients, over both protocols: 2,000 groups or 200 KiB and more arrive complete, or not at all.
import type { Authenticator } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { utf8 } from "../../packages/framework/src/authn/headers.ts";
import { kubeconfigHome, startTls } from "../_support/server.ts";
import { whoami } from "../_support/whoami.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";

const byHeader: Authenticator = {
  name: "front proxy",
  authenticate: ({ headersDistinct }) =>
    authenticatedUser({
      name: headersDistinct["x-remote-user"]?.[0] ?? "",
      groups: (headersDistinct["x-remote-group"] ?? []).map((group) => utf8(group) ?? ""),
    }),
};

describe("headers of Go's clients", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("arrive complete up to 1 MiB, over HTTP/1.1 and HTTP/2, and are rejected above", async () => {
    await using server = await startTls([whoami()], { authentication: [byHeader] });
    const { authority, port } = server;
    using home = await kubeconfigHome({ authority, port, contexts: { who: "/services/who" }, user: "alice" });
    await using client = GoClient.start("headers", { kubeconfig: home.kubeconfig });
    await client.event("done");
    const told = client.all("answered").map(({ protocol, status, whole, groups }) => [protocol, status, whole, groups]);
    const [one, two] = ["HTTP/1.1", "HTTP/2.0"];
    const sent = [1, 2000, 2000, 900];
    expect(told.slice(0, 4)).to.deep.equal(sent.map((count) => [one, 200, true, count]));
    expect(told.slice(4, 6)).to.deep.equal([
      [one, 431, false, 1000],
      [one, 200, true, 1],
    ]);
    expect(told.slice(6, 10)).to.deep.equal(sent.map((count) => [two, 200, true, count]));
    expect(told[10]?.[1]).to.not.equal(200);
    expect(told[11]).to.deep.equal([two, 200, true, 1]);
    // The same holds before the client has received the server's settings.
    expect(told.slice(12)).to.deep.equal([2000, 2000].map((count) => [two, 200, true, count]));
    await client.end();
  });
});
