import { guideTests } from "./support/guide.ts";

guideTests("doctor", "mounts", "publishing-urls", "standing-in-for-kcp");
