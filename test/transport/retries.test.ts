// When a request is retried, and when it must not be: after the end of a reused connection, and after the rejection of a
// credential.
import { type Credential, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { plainAnswer, type RawRequest, startRaw, thrown } from "../_support/raw.ts";
import { until } from "../_support/until.ts";

/** Ends the connection without an answer as soon as a second request comes on it. */
function onceEach(): (request: RawRequest) => void {
  const used = new WeakSet<object>();
  return ({ socket }) => {
    if (used.has(socket)) socket.destroy();
    else socket.write(plainAnswer("ok"));
    used.add(socket);
  };
}

describe("retry", () => {
  it("repeats GET and HEAD if a reused connection ends before any response", async () => {
    await using server = await startRaw(onceEach());
    await using upstream = new Upstream({ url: server.url });
    await upstream.send({ path: "/" });
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal("ok");
    const streamed = await upstream.stream({ path: "/" });
    expect(streamed.status).to.equal(200);
    for await (const _ of streamed.body);
    expect(upstream.stats).to.include({ requests: 3, retries: 2 });
    expect(server.requests).to.have.length(5);
  });

  it("does not repeat other methods, which the server may have received", async () => {
    await using server = await startRaw(onceEach());
    await using upstream = new Upstream({ url: server.url });
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      await upstream.send({ path: "/" });
      const error = await thrown(upstream.send({ path: "/", method, body: "{}" }));
      expect([error.code, error.delivered]).to.deep.equal(["reset", true]);
    }
    expect(upstream.stats.retries).to.equal(0);
  });

  it("does not happen after a partial response, on a new connection, or a third time", async () => {
    await using server = await startRaw(({ socket, nth }) => {
      if (nth % 2 === 0) socket.write(plainAnswer("ok"));
      else socket.end("HTTP/1.1 200 OK\r\n");
    });
    await using upstream = new Upstream({ url: server.url });
    await upstream.send({ path: "/" });
    expect((await thrown(upstream.send({ path: "/" }))).code).to.equal("reset");
    await using never = await startRaw(({ socket, nth }) =>
      nth === 0 ? socket.write(plainAnswer("ok")) : socket.destroy(),
    );
    await using other = new Upstream({ url: never.url });
    await other.send({ path: "/" });
    expect((await thrown(other.send({ path: "/" }))).code).to.equal("reset");
    expect(never.requests).to.have.length(3);
    expect((await thrown(other.send({ path: "/" }))).code).to.equal("reset");
    expect(never.requests).to.have.length(4);
  });

  it("repeats any request that a closed connection did not send, such as a POST after the server's FIN", async () => {
    await using server = await startRaw(({ socket, nth }) => {
      socket.write(plainAnswer(`${nth}`), () => {
        if (nth % 2 === 0) socket.end();
      });
    });
    await using upstream = new Upstream({ url: server.url });
    for (let round = 0; round < 20; round++) {
      await upstream.send({ path: "/" });
      // The FIN has reached this machine, but perhaps not this process.
      await server.until(() => server.requests.length % 2 === 1);
      await new Promise(setImmediate);
      expect((await upstream.send({ path: "/", method: "POST", body: "{}" })).status).to.equal(200);
    }
    expect(server.requests.filter(({ text }) => text.startsWith("POST"))).to.have.length(20);
  });
});

describe("credentials", () => {
  const refuseOld = ({ text, socket }: RawRequest): void => {
    if (/Bearer new/.test(text)) socket.write(plainAnswer("ok"));
    else socket.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
  };

  it("are renewed once after a rejection, for all requests that used them, and each is sent once more", async () => {
    await using server = await startRaw(refuseOld);
    let current: Credential = { headers: ["Authorization", "Bearer old"] };
    let gets = 0;
    let refusals = 0;
    await using upstream = new Upstream({
      url: server.url,
      connections: 50,
      credentials: {
        get: async () => {
          gets += 1;
          return current;
        },
        refused: () => {
          refusals += 1;
          current = { headers: ["Authorization", "Bearer new"] };
        },
      },
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        at % 2 === 0 ? upstream.send({ path: "/", method: "POST", body: "{}" }) : upstream.stream({ path: "/" }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(50).fill(200));
    expect([gets, refusals, server.requests.length]).to.deep.equal([100, 1, 100]);
    expect(upstream.stats).to.include({ requests: 50, retries: 50 });
    for (const answer of answers)
      if (typeof answer.body[Symbol.asyncIterator as never] === "function")
        await (answer as AsyncDisposable)[Symbol.asyncDispose]?.();
  });

  it("give the caller the 401 if they cannot be renewed, and ask the source again the next time", async () => {
    await using server = await startRaw(refuseOld);
    let refusals = 0;
    const credentials = {
      get: () => ({ headers: ["Authorization", "Bearer old"] }),
      refused: () => {
        refusals += 1;
      },
    };
    await using upstream = new Upstream({ url: server.url, credentials });
    for (let round = 1; round < 3; round++) {
      expect((await upstream.send({ path: "/" })).status).to.equal(401);
      const streamed = await upstream.stream({ path: "/" });
      expect([streamed.status, (await streamed.body[Symbol.asyncIterator]().next()).value?.toString()]).to.deep.equal([
        401,
        "no",
      ]);
      expect([refusals, server.requests.length]).to.deep.equal([round * 2, round * 2]);
    }
    expect(server.opened).to.be.at.most(3);
  });

  it("fail with the error of their source, also during a retry, and leave no connection behind", async () => {
    await using server = await startRaw(refuseOld);
    const error = new Error("the token file is gone");
    let gets = 0;
    await using upstream = new Upstream({
      url: server.url,
      credentials: {
        get: () => {
          gets += 1;
          if (gets !== 2) throw error;
          return { headers: ["Authorization", "Bearer old"] };
        },
        refused: () => undefined,
      },
    });
    expect(await thrown<unknown>(upstream.send({ path: "/" }))).to.equal(error);
    expect(server.opened).to.equal(0);
    expect(await thrown<unknown>(upstream.stream({ path: "/" }))).to.equal(error);
    await until(() => upstream.stats.active <= 0);
    expect(upstream.stats.pending).to.equal(0);
  });

  it("replace the caller's headers of the same name, in any case, and any Authorization", async () => {
    await using server = await startRaw(({ socket }) => socket.write(plainAnswer("")));
    await using upstream = new Upstream({
      url: server.url,
      credentials: { get: () => ({ headers: ["X-Remote-User", "us"] }) },
    });
    const headers = [
      "x-remote-user",
      "root",
      "AUTHORIZATION",
      "Bearer theirs",
      "X-Other",
      "kept",
      "X-REMOTE-USER",
      "root",
    ];
    await upstream.send({ path: "/", headers });
    const head = server.requests[0]?.text ?? "";
    expect(head).to.contain("X-Remote-User: us").and.to.contain("X-Other: kept");
    expect(head).not.to.match(/root|theirs/i);
    await using nobody = new Upstream({ url: server.url });
    await nobody.send({ path: "/", headers: ["Authorization", "Bearer theirs", "User-Agent", "they/1"] });
    expect(server.requests[1]?.text)
      .to.contain("Bearer theirs")
      .and.to.contain("they/1")
      .and.not.to.contain("virtual-workspaces");
  });
});

describe("header lines", () => {
  it("are UTF-8 on the wire; ambiguous ones are rejected by name, never by value", async () => {
    await using server = await startRaw(({ socket }) => socket.write(plainAnswer("")));
    await using upstream = new Upstream({ url: server.url });
    await upstream.send({ path: "/", headers: ["Impersonate-User", "J\u00f6rg \u{1f600}"] });
    expect(Buffer.from(server.requests[0]?.text ?? "", "latin1").toString("utf8")).to.contain(
      "Impersonate-User: Jörg 😀\r\n",
    );
    for (const value of ["s3cret\r\nX: y", "s3cret\n", "s3cret\0", "s3cret\u007f", "s3cret\ud800", "s3creté\r\n"]) {
      const { message } = await thrown(upstream.send({ path: "/", headers: ["X-Token", value] }));
      expect(message).to.contain("X-Token").and.not.to.contain("s3cret");
    }
    for (const name of ["Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "Expect"])
      expect((await thrown(upstream.send({ path: "/", headers: [name, "5"] }))).message).to.contain(name);
    for (const name of ["", "a b", "a:", "a\r\nb", "ä"])
      expect((await thrown(upstream.send({ path: "/", headers: [name, "5"] }))).message).to.contain(
        "invalid header name",
      );
    for (const path of ["", "x", "/a b", "/a\r\nX: y", "/\u{1f600}"])
      expect((await thrown(upstream.send({ path }))).message).to.contain("path");
    for (const method of ["", "GET /", "CONNECT", "get"])
      expect((await thrown(upstream.send({ path: "/", method }))).message).to.contain("method");
    expect(server.requests).to.have.length(1);
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer s3cret\n"] }) };
    await using careless = new Upstream({ url: server.url, credentials });
    expect((await thrown(careless.send({ path: "/" }))).message)
      .to.contain("Authorization")
      .and.not.to.contain("s3cret");
    expect(careless.stats).to.include({ active: 0, pending: 0 });
  });
});
