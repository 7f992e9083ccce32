import { expect } from "chai";
import { networkOf } from "../../packages/framework/src/fairness/authentication-failures.ts";

describe("the network of a client address", () => {
  for (const [address, network] of [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:db8::5:6:7:8", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    [undefined, undefined],
  ] as const) {
    it(`of ${address} is ${network}`, () => expect(networkOf(address)).to.equal(network));
  }
});
