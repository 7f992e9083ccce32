import { guideTests } from "./support/guide.ts";

guideTests(
  "tutorials/mount-a-workspace",
  "how-to/deploying-with-containers",
  "how-to/deploying-with-kcp-operator",
  "how-to/doctor",
  "how-to/mounts",
  "how-to/publishing-urls",
  "how-to/standing-in-for-kcp",
);
