// The end of a console's session: its watches and WebSockets end with it, and no link replaces it silently.
import { expect } from "chai";
import { openWatch } from "../../_support/web-socket.ts";
import { MARK, NOTES, startConsole } from "./support/console-server.ts";

/** Opens a watch over HTTP. @returns its end */
async function plainWatch(url: string, cookie: string): Promise<{ readonly end: Promise<string> }> {
  const response = await fetch(`${url}${NOTES}?watch=true`, { headers: { cookie, ...MARK } });
  expect(response.status).to.equal(200);
  return {
    end: response.text().then(
      () => "ended",
      () => "cut",
    ),
  };
}

describe("the end of a session of the console", () => {
  it("ends its watches and WebSockets, and those of no other session", async () => {
    await using server = await startConsole();
    const { cookie } = await server.signIn({ token: "alice" });
    const { cookie: other } = await server.signIn({ token: "alice" });
    using socket = await openWatch(server.url, `${NOTES}?watch=true`, { headers: { cookie, origin: server.url } });
    using kept = await openWatch(server.url, `${NOTES}?watch=true`, { headers: { cookie: other, origin: server.url } });
    const plain = await plainWatch(server.url, cookie);
    await server.call("/console/session", { method: "DELETE", headers: { cookie, ...MARK } });
    expect([await socket.closed, await plain.end]).to.deep.equal([1006, "cut"]);
    server.notes.in("root", "").set("later", {});
    expect(await kept.next()).to.include('"later"');
  });

  it("comes after its time, also for a watch that is open", async () => {
    await using server = await startConsole({ lifetime: 400 });
    const { cookie } = await server.signIn({ token: "alice" });
    using socket = await openWatch(server.url, `${NOTES}?watch=true`, { headers: { cookie, origin: server.url } });
    const plain = await plainWatch(server.url, cookie);
    expect([await socket.closed, await plain.end]).to.deep.equal([1006, "cut"]);
  });

  it("comes when another sign-in replaces it", async () => {
    await using server = await startConsole();
    const { cookie } = await server.signIn({ token: "alice" });
    const plain = await plainWatch(server.url, cookie);
    expect((await server.signIn({ token: "bob" }, cookie)).status).to.equal(204);
    expect(await plain.end).to.equal("cut");
    expect((await server.call(NOTES, { headers: { cookie, ...MARK } })).status).to.equal(401);
  });
});

describe("a link to the console in a browser that is signed in", () => {
  it("replaces the session of another user only if the user agrees", async () => {
    await using server = await startConsole();
    const { cookie } = await server.signIn({ token: "alice" });
    const code = server.code("bob");
    const conflict = await server.call("/console/session", {
      method: "POST",
      headers: { cookie, ...MARK },
      body: { code },
    });
    expect([
      conflict.status,
      conflict.body.reason,
      conflict.body.details.name,
      conflict.headers.getSetCookie(),
    ]).to.deep.equal([...[409, "Conflict", "bob", []]]);
    expect(conflict.body.message).to.equal(
      'Operation cannot be fulfilled on sessions "bob": the browser is signed in as alice',
    );
    expect((await server.call(NOTES, { headers: { cookie, ...MARK } })).status).to.equal(200);
    const agreed = await server.signIn({ code, replace: true }, cookie);
    expect(agreed.status).to.equal(204);
    const { body } = await server.call("/console/session", { headers: { cookie: agreed.cookie, ...MARK } });
    expect(body.user.username).to.equal("bob");
    expect((await server.signIn({ code, replace: true })).status).to.equal(401);
  });

  it("signs the same user in again", async () => {
    await using server = await startConsole();
    const { cookie } = await server.signIn({ token: "alice" });
    expect((await server.signIn({ code: server.code("alice") }, cookie)).status).to.equal(204);
  });

  it("works once, also for two browsers at the same time", async () => {
    await using server = await startConsole();
    const code = server.code("alice");
    const answers = await Promise.all([server.signIn({ code }), server.signIn({ code })]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, 401]);
  });
});
