import Basics
import Benchmark
import Testing

@Suite("A benchmark's JSON")
struct BenchmarkJSONTests {
  @Test("a row has its aim and span, and each run its figure and who was busy")
  func document() {
    var section = BenchmarkSection("gateway")
    for (run, value) in [(1, 3.0), (2, 2.0)] {
      var pass = BenchmarkPass(run: run)
      pass.add(
        "offline", value, .perSecond, of: 4,
        load: BenchmarkLoad(
          server: ProcessorShare(total: 120.04, busiest: 96),
          generator: ProcessorShare(total: 50, busiest: 50),
          processors: 2), aim: .atLeast(0.6))
      section.add(pass)
    }
    var report = BenchmarkReport(runs: 2, isQuick: true, processors: 2)
    report.sections = [section]
    let load = """
      "server":{"percent":120.0,"busiestThreadPercent":96.0},\
      "generator":{"percent":50.0,"busiestThreadPercent":50.0},"bottleneck":"server"
      """
    #expect(
      report.json.text == """
        {"quick":true,"runs":2,"processors":2,"rows":[\
        {"benchmark":"gateway","name":"offline","unit":"/s","aim":{"atLeast":0.6},"met":false,\
        "minimum":0.5,"maximum":0.75,"runs":[\
        {"run":1,"value":3.0,"reference":4.0,"ratio":0.75,"met":true,\(load)},\
        {"run":2,"value":2.0,"reference":4.0,"ratio":0.5,"met":false,\(load)}]}]}
        """)
  }

  @Test("what is not known is null")
  func absent() {
    var pass = BenchmarkPass(run: 1)
    pass.add("memory", 1.5, .mebibytes)
    var section = BenchmarkSection("capture")
    section.add(pass)
    var report = BenchmarkReport(runs: 1, isQuick: false, processors: 4)
    report.sections = [section]
    #expect(
      report.json.text == """
        {"quick":false,"runs":1,"processors":4,"rows":[\
        {"benchmark":"capture","name":"memory","unit":"MiB","aim":null,"met":null,\
        "minimum":1.5,"maximum":1.5,"runs":[\
        {"run":1,"value":1.5,"reference":null,"ratio":null,"met":null,\
        "server":null,"generator":null,"bottleneck":null}]}]}
        """)
  }
}
