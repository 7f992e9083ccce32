import { expect } from "chai";
import { labelsOf } from "../../packages/framework/src/observe/metrics/labels.ts";
import type { ObservedRequest } from "../../packages/framework/src/observe/observer.ts";

describe("labels of requests", () => {
  it('replace an unknown method, such as a name of Object.prototype, by "other"', () => {
    for (const method of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      const req = { headers: {} };
      const none = ["", "other", "", "", "", "", ""];
      expect(labelsOf({ req, method, path: "/x", search: "" } as unknown as ObservedRequest)).to.deep.equal(none);
      const info = { verb: method, subresource: "", isResource: false };
      expect(labelsOf({ req, method, path: "/x", search: "", info } as unknown as ObservedRequest)).to.deep.equal(none);
    }
  });
});
