import type { StoreErrorCode } from "@virtual-workspaces/store";
import { expect } from "chai";
import { writing } from "../../../packages/store/src/maintenance/backup-file.ts";
import { refused } from "../contract/subject.ts";

describe("an error of writing a backup's file", () => {
  it("names the remedy", async () => {
    for (const [code, expected] of Object.entries({
      ENOSPC: "NoSpace",
      EDQUOT: "NoSpace",
      EROFS: "ReadOnly",
      EACCES: "ReadOnly",
    })) {
      const cause = Object.assign(new Error("no"), { code });
      const error = await refused(expected as StoreErrorCode, () => writing("b", () => Promise.reject(cause)));
      expect(error.message).to.match(/^cannot write the backup b: .*(choose another|free some space)/);
      expect(error.cause).to.equal(cause);
    }
  });
});
