// Why: a shard trusts warrants literally, and policies name users in this form. kcp's own programs compute both.
import type { Identity } from "@virtual-workspaces/framework";
import {
  contentWarrant,
  formatWarrant,
  parseWarrant,
  prefixedUser,
  warrantsOf,
  withWarrant,
} from "@virtual-workspaces/kcp/users";
import { expect } from "chai";

const WARRANT = "authorization.kcp.io/warrant";
const HOME = "authentication.kcp.io/cluster-name";
const SCOPES = "authentication.kcp.io/scopes";
const ada: Identity = { name: "ada", uid: "7", groups: ["cooks"], extra: { "example.dev/team": ["a", "b"] } };

describe("a warrant", () => {
  it("for the content of a logical cluster equals that of kcp's views", () => {
    expect(formatWarrant(contentWarrant("2x3y4z"))).to.equal(
      '{"user":"system:serviceaccount:default:rest","groups":["system:kcp:admin"],"extra":{"authentication.kcp.io/cluster-name":["2x3y4z"]}}',
    );
  });

  it("is appended to existing ones, in a copy", () => {
    const one = withWarrant(ada, contentWarrant("one"));
    const both = withWarrant(one, { name: "eve", uid: "", groups: [], extra: {} });
    expect(ada.extra).to.deep.equal({ "example.dev/team": ["a", "b"] });
    expect(one.extra[WARRANT]).to.have.length(1);
    expect(both).to.deep.equal({
      ...ada,
      extra: { ...ada.extra, [WARRANT]: [formatWarrant(contentWarrant("one")), '{"user":"eve"}'] },
    });
    expect(warrantsOf(both).map(({ name }) => name)).to.deep.equal(["system:serviceaccount:default:rest", "eve"]);
  });

  it("survives a round trip, and invalid ones are ignored", () => {
    const nested = withWarrant(ada, withWarrant(ada, contentWarrant("one")));
    expect(parseWarrant(formatWarrant(nested))).to.deep.equal(nested);
    for (const text of ["", "null", "[]", '"ada"', '{"user":1}', '{"groups":"cooks"}', '{"extra":{"a":"b"}}', "{"])
      expect(parseWarrant(text), text).to.equal(undefined);
    expect(parseWarrant('{"user":"v","groups":null,"extra":{"a":null}}')).to.deep.equal({
      ...{ name: "v", uid: "", groups: [] },
      extra: { a: [] },
    });
  });

  it("is ignored for a service account without a logical cluster", () => {
    const account = { ...contentWarrant("one"), extra: {} };
    expect(warrantsOf(withWarrant(ada, account))).to.deep.equal([]);
    expect(warrantsOf(withWarrant({ ...ada, extra: { toString: ["x"] } }, ada)).map(({ name }) => name)).to.deep.equal([
      "ada",
    ]);
  });
});

describe("a user in a maximal permission policy", () => {
  it("has the prefix before its name and groups, and keeps the other fields", () => {
    expect(prefixedUser(ada)).to.deep.equal({
      ...ada,
      name: "apis.kcp.io:binding:ada",
      groups: ["apis.kcp.io:binding:cooks"],
    });
  });

  it("has the global name of a service account, without scopes and home", () => {
    const account: Identity = {
      name: "system:serviceaccount:default:robot",
      uid: "1",
      groups: ["system:authenticated"],
      extra: { [HOME]: ["one"], [SCOPES]: ["cluster:one"], other: ["x"] },
    };
    expect(prefixedUser(account)).to.deep.equal({
      name: "apis.kcp.io:binding:system:kcp:serviceaccount:one:default:robot",
      uid: "1",
      groups: ["apis.kcp.io:binding:system:authenticated"],
      extra: { other: ["x"] },
    });
    for (const home of [[], ["one", "two"]])
      expect(prefixedUser({ ...account, extra: { ...account.extra, [HOME]: home } })).to.deep.equal({
        ...{ name: "apis.kcp.io:binding:system:anonymous", uid: "", extra: {} },
        groups: ["apis.kcp.io:binding:system:authenticated"],
      });
  });

  it("has prefixed warrants, without malformed ones", () => {
    const { extra } = prefixedUser({ ...ada, extra: { [WARRANT]: ["{", formatWarrant(withWarrant(ada, ada))] } });
    const [only, ...more] = warrantsOf({ extra });
    expect(more).to.deep.equal([]);
    expect(only?.name).to.equal("apis.kcp.io:binding:ada");
    expect(warrantsOf(only ?? ada).map(({ name }) => name)).to.deep.equal(["apis.kcp.io:binding:ada"]);
  });
});
