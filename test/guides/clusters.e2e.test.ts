import { guideTests } from "./support/guide.ts";

guideTests(
  "tutorials/cluster-behind-a-firewall",
  "how-to/cluster-proxy",
  "how-to/front-proxy",
  "how-to/operating",
  "how-to/scaling-out",
  "how-to/tls",
);
