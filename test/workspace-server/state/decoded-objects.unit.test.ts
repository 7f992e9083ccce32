// Cache of parsed objects of an informer.
import { encodeObject } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { DecodedObjects } from "../../../packages/workspace-server/src/state/informers/lister.ts";
import { until } from "../../_support/until.ts";

const encoded = (name: string) => encodeObject({ apiVersion: "v1", kind: "Task", metadata: { name } }, "root");

describe("parsed objects of an informer", () => {
  it("are parsed once while they are used, however many others are", () => {
    using decoded = new DecodedObjects();
    const used = encoded("used");
    const first = decoded.of(used);
    for (let at = 0; at < 2_000; at++) {
      decoded.of(encoded(`n${at}`));
      expect(decoded.of(used)).to.equal(first);
    }
    expect(decoded.size).to.be.within(512, 1_024);
    decoded.forget(used);
    expect(decoded.of(used)).to.not.equal(first);
  });

  it("are dropped when they are not used", async () => {
    using decoded = new DecodedObjects(5);
    const object = encoded("one");
    const first = decoded.of(object);
    await until(() => decoded.size === 0);
    expect(decoded.of(object)).to.not.equal(first);
  });
});
