// History of a watch cache: the memory that it alone holds is limited, even if objects change their size.

import { CacheEvent, type Encoded } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { Ring } from "../../packages/framework/src/watch/cache/watch-cache.ts";

/** Returns an object whose bytes become shorter once they were read. */
function shrinking(version: string): Encoded & { read: boolean } {
  return {
    key: { cluster: "", namespace: "", name: "x" },
    resourceVersion: version,
    uid: "",
    labels: {},
    fields: {},
    read: false,
    bytes: Buffer.alloc(0),
    get length() {
      return this.read ? 0 : 100;
    },
  };
}

describe("the history of a watch cache", () => {
  it("counts each event with its size when it was added", () => {
    const ring = new Ring("0", { events: 10, bytes: 250 });
    for (let version = 1; version <= 100; version++) {
      const object = shrinking(`${version}`);
      ring.push(new CacheEvent(`${version}`, undefined, object));
      object.read = true;
      ring.forget(ring.surplus);
    }
    expect(ring.next - ring.first).to.equal(2);
  });
});
