import { etcdStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Authority } from "../../_support/certificates.ts";
import { refused } from "../contract/subject.ts";

describe("options of a store in etcd", () => {
  it("are validated", async () => {
    for (const options of [
      { endpoints: [] },
      { endpoints: ["127.0.0.1:2379"] },
      { endpoints: ["https://user@etcd:2379"] },
      { endpoints: ["https://etcd:2379/path"] },
      { endpoints: ["https://a:2379", "http://b:2379"] },
      { endpoints: ["http://a:2379"], tls: {} },
      { endpoints: ["https://a:2379"], tls: { cert: "pem" } },
      { endpoints: ["http://a:2379"], user: "app" },
    ])
      await refused("Invalid", () => etcdStore(options));
  });

  it("are rejected with invalid certificates and keys", async () => {
    const authority = Authority.root("etcd");
    const [us, them] = [authority.issue({ name: "us" }), authority.issue({ name: "them" })];
    for (const [tls, why] of [
      [{ ca: "garbage" }, /^tls\.ca is not a PEM certificate: /],
      [
        { cert: "garbage", key: us.key },
        /^tls\.cert and tls\.key are not a PEM certificate and its unencrypted PEM key/,
      ],
      [{ cert: us.cert, key: "" }, /^tls\.cert and tls\.key are not/],
      [{ ca: authority.cert, cert: us.cert, key: them.key }, /^tls\.cert and tls\.key are not .*mismatch/],
    ] as const)
      expect((await refused("Invalid", () => etcdStore({ endpoints: ["https://a:1"], tls }))).message).to.match(why);
  });

  it("are rejected with more than an address in a URL", async () => {
    for (const url of ["http://:secret@a:1", "http://a:1/x", "http://a:1?x", "http://a:1#x"]) {
      const { message } = await refused("Invalid", () => etcdStore({ endpoints: [url] }));
      expect(message).to.match(/without user and path$/);
    }
  });
});
