// forward() with an upstream that sends invalid data or none: nothing of it counts as a deletion, and every request ends.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { line, list, memo, scripted } from "./scripted.ts";
import { credentialed, MEMOS, startHere } from "./upstream.ts";

const ALL = `${MEMOS}/memos`;

const silent = (): void => undefined;
const good = (res: ServerResponse): void => void res.write(line("ADDED", memo("good", 20)));

describe("a forwarded watch of a misbehaving upstream", () => {
  const lies: Record<string, (res: ServerResponse) => void> = {
    "another kind": (res) => res.write(line("ADDED", { ...memo("y", 11), kind: "Other" })),
    "half a line": (res) => res.write('{"type":"ADDED","object":{"kind":"Memo"\n'),
    "invalid JSON within the object": (res) =>
      res.write(line("ADDED", memo("y", 11)).replace('"text":""', '"text":nope')),
    "trailing data after the object": (res) => res.write('{"type":"DELETED","object":{},"object":{}}\n'),
    "an event of an unknown type": (res) => res.write(line("GONE", memo("y", 11))),
    "a deletion without a version": (res) =>
      res.write(line("DELETED", { ...memo("x", 11), metadata: { name: "x", namespace: "a" } })),
    "an ERROR event": (res) => res.write(line("ERROR", { kind: "Status", code: 500, message: "oh" })),
    "a broken connection": (res) => void res.destroy(),
    "an endless line": (res) => {
      const piece = Buffer.alloc(1024 * 1024, 97);
      const more = (): void => void (res.destroyed || res.write(piece, more));
      more();
    },
  };
  for (const [what, lie] of Object.entries(lies)) {
    it(`reconnects and keeps all objects after ${what}`, async () => {
      await using at = await scripted({ watches: [lie, good] });
      await using watch = await at.here.server.watch(`${ALL}?watch=true`);
      const told = await watch.until(({ object }) => object.metadata?.name === "good");
      expect(told.map(({ type }) => type))
        .to.not.include("DELETED")
        .and.not.include("ERROR");
      expect(told.map(({ object }) => object.metadata?.name)).to.not.include("y");
      expect(at.here.errors.length).to.equal(1);
    });
  }

  it("detects and closes a silent connection", async () => {
    await using at = await scripted({ watches: [silent, good] });
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    expect((await watch.until(({ object }) => object.metadata?.name === "good")).length).to.equal(2);
    expect(String(at.here.errors[0])).to.match(/^TransportError: GET http:.* within \d+ ms/);
  });

  it("accepts unusual spelling", async () => {
    await using at = await scripted({
      watches: [
        (res) =>
          res.write(
            `${JSON.stringify({ object: memo("y", 11), type: "ADDED" }, undefined, 1).replaceAll("\n", " ")}\n`,
          ),
      ],
    });
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(2)).to.deep.equal(["ADDED x", "ADDED y"]);
  });

  it("resumes at its version if the stream omits events", async () => {
    const now = { list: list(10, memo("x", 10)) };
    const watches = [silent, (res: ServerResponse) => void res.write(line("MODIFIED", memo("x", 12, "new")))];
    await using at = await scripted({ list: () => now.list, watches });
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    await watch.take(1);
    now.list = list(12, memo("x", 12, "new"));
    const fresh = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using second = await at.here.server.watch(ALL + fresh);
    expect((await second.next()).object).to.deep.include({ spec: { text: "new" } });
    expect((await watch.next()).object).to.deep.include({ spec: { text: "new" } });
  });

  it("ends with 410 if versions are out of order, so that a list shows the omitted ones", async () => {
    const now = { list: list(10, memo("x", 10)) };
    const begun = Promise.withResolvers<void>();
    const disorder = async (res: ServerResponse): Promise<void> => {
      await begun.promise;
      now.list = list(15, memo("x", 10), memo("y", 14), memo("z", 15));
      res.write(line("ADDED", memo("z", 15)) + line("ADDED", memo("y", 14)));
    };
    await using at = await scripted({ list: () => now.list, watches: [disorder, silent] });
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    begun.resolve();
    expect((await watch.rest()).map(label)).to.deep.equal(["ADDED z", "ERROR 410"]);
    await using second = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await second.take(3)).to.deep.equal(["ADDED x", "ADDED y", "ADDED z"]);
  });

  it("delivers several changes of one version once each, even if some are repeated", async () => {
    const other = { ...memo("x", 11), metadata: { name: "x", namespace: "a", resourceVersion: "11", uid: "other" } };
    const all = [line("DELETED", memo("x", 11)), line("ADDED", other), line("ADDED", memo("y", 11))];
    const begun = Promise.withResolvers<void>();
    const tell = async (res: ServerResponse): Promise<void> => {
      await begun.promise;
      res.write([...all, all[2], line("ADDED", memo("good", 12))].join(""));
    };
    await using at = await scripted({ watches: [tell, silent] });
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    begun.resolve();
    expect(await watch.take(4)).to.deep.equal(["DELETED x", "ADDED x", "ADDED y", "ADDED good"]);
  });

  it("ends with 410 if the upstream went back to an older state, and then shows that state", async () => {
    const now = { list: list(10, memo("x", 10)) };
    await using at = await scripted({ list: () => now.list, watches: [silent] });
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    await watch.take(1);
    now.list = list(5, memo("old", 4));
    const fresh = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using second = await at.here.server.watch(ALL + fresh);
    expect(await second.take(1)).to.deep.equal(["ADDED old"]);
    expect((await watch.rest()).map(({ object }) => object.code)).to.deep.equal([410]);
  });

  it("tracks versions by metadata-only requests during many other writes", async () => {
    let head = 10;
    await using at = await scripted({ list: () => list(++head, memo("x", 10)), watches: [silent] });
    const fresh = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using watch = await at.here.server.watch(ALL + fresh);
    expect((await watch.take(2)).map((text) => text.split(" ")[0])).to.deep.equal(["ADDED", "BOOKMARK"]);
  });
});

describe("the readiness of a forwarded kind", () => {
  it("follows the upstream: down, up and down again", async () => {
    let status = 500;
    const raw = createServer((_req, res) => res.writeHead(status).end());
    await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
    await using here = await startHere({
      upstream: credentialed(`http://127.0.0.1:${(raw.address() as AddressInfo).port}`),
    });
    const ready = (): Promise<string> =>
      here.memos.ready().then(
        () => "ready",
        (error: Error) => error.message,
      );
    expect(await ready()).to.match(/^http:\/\/127\.0\.0\.1:\d+ answered 500$/);
    status = 403;
    await until(async () => (await ready()) === "ready");
    raw.closeAllConnections();
    await new Promise((resolve) => raw.close(resolve));
    await until(async () => (await ready()) !== "ready");
    expect(await ready()).to.match(/^GET http:\/\/127\.0\.0\.1:\d+\/version: /);
  });
});
