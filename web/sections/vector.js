// Vector operations, by type and number of lanes.
import { operationPlots } from "./op.js";

export default { probe: "vector", covers: /^op\./, plots: (profile) => operationPlots(profile, "vector", (type) => /x\d+$/.test(type)) };
