import { guideTests } from "./support/guide.ts";

guideTests("cluster-proxy", "front-proxy", "operating", "scaling-out", "tls");
