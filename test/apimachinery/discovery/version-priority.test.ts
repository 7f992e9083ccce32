import { compareVersionPriority } from "@virtual-workspaces/apimachinery/discovery";
import { expect } from "chai";
import fc from "fast-check";

// Example from Kubernetes' documentation on versions of CustomResourceDefinitions.
const documented = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];

describe("compareVersionPriority", () => {
  it("sorts as documented", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(documented, { minLength: documented.length }), (shuffled) => {
        expect([...shuffled].sort(compareVersionPriority)).to.deep.equal(documented);
      }),
    );
  });

  it("returns 0 only for equal versions", () => {
    const version = fc.constantFrom(...documented, "v1beta1", "v1alpha1", "v1gamma1", "v", "");
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(compareVersionPriority(a, b) === 0).to.equal(a === b);
        expect(Math.sign(compareVersionPriority(a, b)) + Math.sign(compareVersionPriority(b, a))).to.equal(0);
      }),
    );
  });
});
