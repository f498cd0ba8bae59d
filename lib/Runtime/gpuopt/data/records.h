// Samples that are encoded, as pictures are: each is a file of a folder or a
// member of a tar file.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/tar.h"

#include <filesystem>

namespace gpuopt {

// The bytes of one sample.
struct Record {
  NamedBytes content;
  std::unique_ptr<MappedFile> file; // which has been opened for them, or null
};

struct Records {
  virtual ~Records() = default;
  virtual int64_t count() const = 0;
  // Throws BadRecord if the file of the sample cannot be opened.
  virtual Record open(int64_t sample) const = 0;
  // Returns where a sample lies, for messages.
  virtual std::string place(int64_t sample) const = 0;
  // Returns the files below the folder, or the members of the tar files.
  virtual std::vector<std::string> names() const = 0;

  std::string path; // of all of them, for messages
};

// A folder with one sub-folder for each class, as torchvision's ImageFolder
// reads them: classes and their files in the order of their names, the files
// of folders below a class too. A folder without sub-folders has pictures
// without classes. Folders whose names begin with a dot are of other programs.
class ImageFolder : public Records {
public:
  explicit ImageFolder(const std::string &folder) {
    namespace fs = std::filesystem;
    path = folder;
    for (const auto &entry : fs::directory_iterator(folder))
      if (is_seen(entry))
        classes.push_back(entry.path().filename().string());
    std::sort(classes.begin(), classes.end());
    if (classes.empty())
      add_files(folder);
    else
      expect_no_pictures_in(folder);
    if (classes.empty() && files.empty())
      throw Error("'" + folder +
                  "' has neither pictures, which are files that end in .jpg, "
                  ".jpeg or .png, nor a sub-folder of them for each class");
    for (size_t label = 0; label < classes.size(); label++) {
      const size_t before = files.size();
      add_files(fs::path(folder) / classes[label]);
      if (files.size() == before)
        throw Error("'" + (fs::path(folder) / classes[label]).string() +
                    "' has no pictures: files that end in .jpg, .jpeg or .png");
      labels.resize(files.size(), int64_t(label));
    }
  }

  int64_t count() const override { return int64_t(files.size()); }
  Record open(int64_t sample) const override {
    Record record;
    try {
      record.file = std::make_unique<MappedFile>(files[size_t(sample)]);
    } catch (const Error &problem) {
      throw BadRecord(problem.what());
    }
    record.content = *record.file;
    return record;
  }
  std::string place(int64_t sample) const override {
    return "'" + files[size_t(sample)] + "'";
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const std::string &file : files)
      names.push_back(
          std::filesystem::path(file).lexically_relative(path).string());
    return names;
  }

  std::vector<std::string> classes;
  std::vector<int64_t> labels; // of the files: numbers of classes

private:
  // Whether it is a folder, and none of those that other programs keep beside
  // files, like .ipynb_checkpoints.
  static bool is_seen(const std::filesystem::directory_entry &entry) {
    return is_folder(entry) && entry.path().filename().string().front() != '.';
  }
  static bool is_folder(const std::filesystem::directory_entry &entry) {
    std::error_code problem;
    const bool is_one = entry.is_directory(problem);
    if (problem == std::errc::too_many_symbolic_link_levels)
      refuse_loop(entry.path());
    return is_one;
  }
  [[noreturn]] static void refuse_loop(const std::filesystem::path &link) {
    throw Error("'" + link.string() +
                "' is a link to itself or back to a folder that it is in; "
                "remove it");
  }
  static bool is_picture(const std::filesystem::path &file) {
    const std::string ending = ending_of(file);
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
  }
  // Pictures beside the sub-folders would have no class.
  void expect_no_pictures_in(const std::string &folder) const {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (!is_folder(entry) && is_picture(entry.path()))
        found.push_back(entry.path().filename().string());
    if (found.empty())
      return;
    throw Error("'" + folder +
                "' needs either pictures or a sub-folder of them for each "
                "class, but has both: '" +
                *std::min_element(found.begin(), found.end()) +
                "' beside the sub-folder '" + classes.front() +
                "'; move either to another folder");
  }
  static std::string ending_of(const std::filesystem::path &path) {
    std::string ending = path.extension().string();
    for (char &c : ending)
      c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return ending;
  }
  // Adds the files of a folder, then those of the folders in it. `around` has
  // the folders that it is in: there is no end where a link leads to one.
  void add_files(const std::filesystem::path &folder,
                 std::vector<std::filesystem::path> around = {}) {
    const auto itself = std::filesystem::canonical(folder);
    if (std::find(around.begin(), around.end(), itself) != around.end())
      refuse_loop(folder);
    around.push_back(itself);
    std::vector<std::filesystem::path> found, folders;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (!is_folder(entry))
        found.push_back(entry.path());
      else if (is_seen(entry))
        folders.push_back(entry.path());
    std::sort(found.begin(), found.end());
    std::sort(folders.begin(), folders.end());
    for (const auto &file : found) {
      const std::string ending = ending_of(file);
      if (is_picture(file))
        files.push_back(file.string());
      for (const char *other :
           {".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"})
        if (ending == other)
          throw Error("'" + file.string() +
                      "' is a picture, but of those "
                      "only JPEG and PNG are read; convert or remove it");
    }
    for (const auto &below : folders)
      add_files(below, around);
  }

  std::vector<std::string> files;
};

// The members of tar files that have one of some extensions.
class TarRecords : public Records {
public:
  TarRecords(std::shared_ptr<const TarShards> shards, const std::string &path,
             const std::vector<std::string> &extensions)
      : shards(std::move(shards)), members(this->shards->column(extensions)) {
    this->path = path;
  }
  int64_t count() const override { return int64_t(members.size()); }
  Record open(int64_t sample) const override {
    Record record;
    record.content = shards->content(members[size_t(sample)]);
    return record;
  }
  std::string place(int64_t sample) const override {
    return shards->place(members[size_t(sample)]);
  }
  std::vector<std::string> names() const override {
    return shards->names(members);
  }

private:
  std::shared_ptr<const TarShards> shards;
  std::vector<TarMember> members;
};

} // namespace gpuopt
