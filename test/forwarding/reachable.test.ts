// Whether a server answers, for `ready` of views that only ask it.
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

describe("a server that a view asks", () => {
  for (const [code, expected] of [
    [200, "yes"],
    [403, "yes"],
    [404, "yes"],
    [401, "rejected this server's credentials"],
    [503, "answered 503"],
  ] as const)
    it(`that answers ${code} ${expected === "yes" ? "is there" : "is as good as away"}`, async () => {
      await using server = await misbehaving((res) => json(res, {}, code));
      expect(await verdict(server.url)).to.include(expected);
    });

  it("that cannot be reached is away, and is named to who runs the view", async () => {
    const url = await nowhere();
    expect(await verdict(url)).to.include(url);
  });

  it("is asked once, however many ask", async () => {
    await using server = await misbehaving((res) => json(res, {}));
    await using upstream = new Upstream({ url: server.url });
    const answers = reachable(upstream);
    await Promise.all(Array.from({ length: 50 }, answers));
    expect(server.requests).to.equal(1);
  });
});
