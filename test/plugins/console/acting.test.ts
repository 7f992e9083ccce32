// Tabs of the console that act as another user: who may, how requests carry it, and when it ends.
import { allow, deny } from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { openWatch, rejection } from "../../_support/web-socket.ts";
import { MARK, NOTES, startConsole } from "./support/console-server.ts";

const HEADER = "x-virtual-workspaces-acting";
const PROTOCOL = "acting.virtual-workspaces.";
const CAROL = { username: "carol", groups: ["readers", "später"] };

/** Starts a server where only alice may impersonate. */
async function start() {
  // biome-ignore lint/suspicious/noExplicitAny: audit events
  const events: any[] = [];
  const server = await startConsole(
    {},
    {
      impersonation: ({ user }) => (user.name === "alice" ? allow() : deny("only alice may")),
      audit: audit({
        policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] },
        to: (line) => void events.push(JSON.parse(line)),
      }),
    },
  );
  const begin = async (token: string, body: unknown = CAROL) => {
    const { cookie } = await server.signIn({ token });
    const headers = { cookie, ...MARK };
    const answer = await server.call("/console/acting", { method: "POST", headers, body });
    return { cookie, headers, status: answer.status, body: answer.body, acting: answer.body?.acting as string };
  };
  return { ...server, begin, events, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
}

describe("a tab of the console that acts as another user", () => {
  it("makes its requests as that user, which the audit log shows beside the signed-in one", async () => {
    await using server = await start();
    const { headers, acting } = await server.begin("alice");
    const { body } = await server.call("/services/who/", { headers: { ...headers, [HEADER]: acting } });
    expect([body.name, body.groups]).to.deep.equal(["carol", ["readers", "später", "system:authenticated"]]);
    expect(JSON.stringify(body.headers)).not.to.match(/acting|impersonate|cookie/i);
    const event = await until(() => server.events.find(({ impersonatedUser }) => impersonatedUser !== undefined));
    expect([event.user.username, event.impersonatedUser.username]).to.deep.equal(["alice", "carol"]);
    const own = await server.call("/services/who/", { headers });
    expect(own.body.name).to.equal("alice");
    const session = await server.call("/console/session", { headers: { ...headers, [HEADER]: acting } });
    expect([session.body.user.username, session.body.acting]).to.deep.equal(["alice", CAROL]);
  });

  it("watches as that user over WebSockets, by a subprotocol", async () => {
    await using server = await start();
    const { cookie, acting } = await server.begin("alice");
    const options = {
      headers: { cookie, origin: server.url },
      protocols: ["base64.binary.k8s.io", PROTOCOL + acting],
    };
    using socket = await openWatch(server.url, `${NOTES}?watch=true`, options);
    expect(socket.response.headers["sec-websocket-protocol"]).to.equal("base64.binary.k8s.io");
    await server.call("/console/session", { method: "DELETE", headers: { cookie, ...MARK } });
    await socket.closed;
    const { user, impersonatedUser } = await until(() =>
      server.events.find((event) => event.verb === "watch" && event.stage === "ResponseComplete"),
    );
    expect([user.username, impersonatedUser.username]).to.deep.equal(["alice", "carol"]);
  });

  it("gets 403 from the server if the signed-in user may not", async () => {
    await using server = await start();
    const { cookie, headers, acting } = await server.begin("bob");
    const { status, body } = await server.call(NOTES, { headers: { ...headers, [HEADER]: acting } });
    expect([status, body.message]).to.deep.equal([
      403,
      'users "carol" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope: only alice may',
    ]);
    const options = { headers: { cookie, origin: server.url }, protocols: ["base64.binary.k8s.io", PROTOCOL + acting] };
    expect((await rejection(openWatch(server.url, `${NOTES}?watch=true`, options)))[0]).to.equal(403);
  });

  it("cannot be made by pages of other sites", async () => {
    await using server = await start();
    const { cookie, acting } = await server.begin("alice");
    const begin = (headers: Readonly<Record<string, string>>) =>
      server.call("/console/acting", { method: "POST", headers: { cookie, ...headers }, body: CAROL });
    for (const headers of [{}, { ...MARK, "sec-fetch-site": "cross-site" }, { ...MARK, "sec-fetch-site": "same-site" }])
      expect((await begin(headers)).status).to.equal(403);
    for (const path of [`${NOTES}?acting=${acting}`, `${NOTES}?${HEADER}=${acting}`, `${NOTES}?impersonate-user=carol`])
      expect((await server.call(path, { headers: { cookie } })).status).to.equal(401);
    const options = { headers: { cookie, origin: "https://evil.test" }, protocols: [PROTOCOL + acting] };
    expect((await rejection(openWatch(server.url, `${NOTES}?watch=true`, options)))[0]).to.be.oneOf([401, 403]);
  });

  it("does not act after the end of its session, not even as the signed-in user", async () => {
    await using server = await start();
    const { headers, acting } = await server.begin("alice");
    await server.call("/console/session", { method: "DELETE", headers });
    expect((await server.call(NOTES, { headers: { ...headers, [HEADER]: acting } })).status).to.equal(401);
    const { cookie } = await server.signIn({ token: "alice" });
    const another = { cookie, ...MARK };
    expect((await server.call(NOTES, { headers: { ...another, [HEADER]: acting } })).status).to.equal(401);
    expect((await server.call(NOTES, { headers: { ...another, [HEADER]: "" } })).status).to.equal(401);
    expect((await server.call(NOTES, { headers: another })).status).to.equal(200);
    const { body } = await server.call("/console/session", { headers: { ...another, [HEADER]: acting } });
    expect(body).not.to.have.property("acting");
  });

  it("needs a session and a valid user", async () => {
    await using server = await start();
    expect((await server.call("/console/acting", { method: "POST", headers: MARK, body: CAROL })).status).to.equal(401);
    expect((await server.call("/console/acting", { headers: MARK })).status).to.equal(405);
    const wrong = [
      {},
      { username: " " },
      { username: "a\nb" },
      { username: "a", groups: "b" },
      { username: "a", groups: [""] },
    ];
    for (const body of wrong) {
      const answer = await server.begin("alice", body);
      expect([answer.status, answer.body.message], JSON.stringify(body)).to.deep.equal([
        400,
        'invalid user: send {"username": "…", "groups": ["…"]}, at most 50 groups, and names of 1 to 256 characters',
      ]);
    }
  });
});
