// forward(): who shares what of the other server, when functions of the options change their mind.
import { expect } from "chai";
import { list, memo, scripted } from "./scripted.ts";
import { MEMOS } from "./upstream.ts";

const ALL = `${MEMOS}/memos`;
const silent = (): void => undefined;

/** A server that has for each user one memo of that name. */
const own = {
  list: (_query: URLSearchParams, { headers }: { readonly headers: NodeJS.Dict<string | string[]> }): string =>
    list(10, memo(String(headers["impersonate-user"]), 10)),
  watches: [silent],
};

describe("a forwarded kind whose identity is a function", () => {
  it("asks it for every request: who has become somebody else sees what that one sees, and nothing of before", async () => {
    let tenant = "one";
    await using at = await scripted(own, { identity: () => ({ name: tenant }) });
    await using first = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await first.take(1)).to.deep.equal(["ADDED one"]);
    tenant = "two";
    const { body } = await at.here.server.get(ALL);
    expect(body.items[0].metadata.name).to.equal("two");
    await using second = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await second.take(1)).to.deep.equal(["ADDED two"]);
  });

  it("renews a watch as whom it began: those who share it see nothing of another", async () => {
    let tenant = "one";
    const renewed: unknown[] = [];
    const asked = Promise.withResolvers<void>();
    await using at = await scripted(
      {
        ...own,
        watches: [
          (res) => res.end(),
          (_res, _query, { headers }) => {
            renewed.push(headers["impersonate-user"]);
            asked.resolve();
          },
        ],
      },
      {
        identity: () => {
          const name = tenant;
          tenant = "two";
          return { name };
        },
      },
    );
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED one"]);
    await asked.promise;
    expect(renewed).to.deep.equal(["one"]);
  });

  it("does not climb out of its place in the other server's paths", async () => {
    await using at = await scripted(own, { cluster: () => ".." });
    expect((await at.here.server.get(ALL)).status).to.equal(404);
    expect((await at.here.server.get(`${MEMOS}/namespaces/a/memos/x`)).status).to.equal(404);
    expect(at.asked).to.deep.equal([]);
  });
});
