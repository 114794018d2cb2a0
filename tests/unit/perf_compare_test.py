"""The comparison's arithmetic, table and chart, without running any library. usage: perf_compare_test.py FOLDER"""
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, sys.argv.pop(1))

import svg  # noqa: E402
import table  # noqa: E402

TITLES = {"tutti": "Tutti", "openmpi": "Open MPI", "mpich": "MPICH"}
ROUNDS = [{"tutti": {8: 1.0, 1024: 4.0}, "openmpi": {8: 2.0, 1024: 2.0}, "mpich": {8: 4.0, 1024: 8.0}},
          {"tutti": {8: 3.0, 1024: 4.0}, "openmpi": {8: 2.0, 1024: 4.0}, "mpich": {8: 1.0, 1024: 8.0}},
          {"tutti": {8: 2.0}, "openmpi": {8: 2.0, 1024: 8.0}}]  # a round in which some failed


class TableTest(unittest.TestCase):
    def setUp(self):
        self.rows = table.summarize(ROUNDS, list(TITLES), ["openmpi", "mpich"])

    def test_medians_and_ratios(self):
        small, large = self.rows
        self.assertEqual(small["median_us"], {"tutti": 2.0, "openmpi": 2.0, "mpich": 2.5})
        self.assertEqual(small["spread_us"]["tutti"], [1.0, 3.0])
        self.assertEqual(small["ratio"]["tutti"], {"median": 1.0, "least": 0.5, "largest": 3.0})
        self.assertEqual(large["ratio"]["tutti"], {"median": 1.5, "least": 1.0, "largest": 2.0})

    def test_rendering(self):
        lines = table.render(self.rows, TITLES, 2).splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn("1.00 (0.50 .. 3.00)", lines[2])
        self.assertTrue(lines[3].lstrip().startswith("1K"))

    def test_without_rivals_there_is_no_ratio(self):
        rows = table.summarize([{"tutti": {8: 1.0}}], ["tutti"], [])
        self.assertEqual(rows[0]["ratio"], {})
        self.assertIn("-", table.render(rows, {"tutti": "Tutti"}, 2))

    def test_bus_bandwidth(self):
        self.assertAlmostEqual(table.bus_bandwidth(8_000_000, 1000.0, 4), 12.0)

    def test_chart_is_xml(self):
        text = svg.chart(self.rows, {**TITLES, "mpich": "MPICH <&>"}, "heading")
        xml.dom.minidom.parseString(text)
        self.assertEqual(text.count("<polyline"), 3)
        self.assertEqual(svg.chart([], TITLES, "nothing"), "")


if __name__ == "__main__":
    unittest.main()
