// Readiness of views that only send requests to a server.
import { reachable } from "@virtual-workspaces/forwarding";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { json, misbehaving, nowhere } from "./misbehaving.ts";

async function verdict(url: string): Promise<string> {
  await using upstream = new Upstream({ url });
  return await reachable(upstream)().then(
    () => "yes",
    (error: unknown) => String(error),
  );
}

describe("reachable()", () => {
  for (const [code, expected] of [
    [200, "yes"],
    [403, "yes"],
    [404, "yes"],
    [401, "rejected this server's credentials"],
    [503, "answered 503"],
  ] as const)
    it(`${expected === "yes" ? "resolves" : "rejects"} for a server that answers ${code}`, async () => {
      await using server = await misbehaving((res) => json(res, {}, code));
      expect(await verdict(server.url)).to.include(expected);
    });

  it("rejects for an unreachable server, and names it to the operator", async () => {
    const url = await nowhere();
    expect(await verdict(url)).to.include(url);
  });

  it("sends one request, however many callers there are", async () => {
    await using server = await misbehaving((res) => json(res, {}));
    await using upstream = new Upstream({ url: server.url });
    const answers = reachable(upstream);
    await Promise.all(Array.from({ length: 50 }, answers));
    expect(server.requests).to.equal(1);
  });
});
