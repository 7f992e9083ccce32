// A unit test, because it needs more addresses than a machine has.
import { expect } from "chai";
import { IdentityHeaders } from "../../packages/framework/src/authn/headers.ts";
import { AuthenticationFailureLimiter } from "../../packages/framework/src/fairness/authentication-failures.ts";

type Asking = Parameters<AuthenticationFailureLimiter["refusal"]>[0];

const from = (peer: string): Asking =>
  ({ req: { headers: {}, rawHeaders: ["Authorization", "Bearer wrong"] }, peer }) as unknown as Asking;

describe("the table of failed addresses", () => {
  it("does not grow: it keeps the most recent ones", () => {
    const limiter = new AuthenticationFailureLimiter({ failures: 1, forgiveEvery: 60_000 }, new IdentityHeaders([]));
    const addresses = Array.from({ length: 20_000 }, (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    for (const address of addresses) limiter.failed(from(address));
    const refused = addresses.map((address) => limiter.refusal(from(address)) !== undefined);
    expect(refused.indexOf(true)).to.equal(10_000);
    expect(refused.lastIndexOf(false)).to.equal(9_999);
  });

  it("counts an IPv6 network as one address, and ignores a shared proxy", () => {
    const limiter = new AuthenticationFailureLimiter(
      { failures: 2, trusted: ["2001:db8:ffff::/48", "192.0.2.7"] },
      new IdentityHeaders([]),
    );
    for (const host of ["1", "2"]) limiter.failed(from(`2001:db8:1:2::${host}`));
    expect(limiter.refusal(from("2001:db8:1:2::3"))).to.include({ code: 429 });
    expect(limiter.refusal(from("2001:db8:1:3::3"))).to.equal(undefined);
    for (const proxy of ["2001:db8:ffff::1", "192.0.2.7", "::ffff:192.0.2.7"]) {
      for (let at = 0; at < 5; at++) limiter.failed(from(proxy));
      expect(limiter.refusal(from(proxy)), proxy).to.equal(undefined);
    }
  });
});
